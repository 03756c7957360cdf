import { Administration } from './administration.ts'
import { Activity } from './audit/activity.ts'
import { AuthorizedApplications } from './authorized-applications.ts'
import { Clients } from './clients/clients.ts'
import { Consents } from './consents.ts'
import { type RecordsContext, withinTransaction } from './context.ts'
import { EndedTokens } from './tokens/ended-tokens.ts'
import { PersonalTokens } from './tokens/personal-tokens.ts'
import { Tokens } from './tokens/tokens.ts'
import { Users } from './users/users.ts'

/** All records. Inside `transaction`, use the records that `work` receives. */
export interface Records {
  readonly clients: Clients
  readonly tokens: Tokens
  readonly personalTokens: PersonalTokens
  readonly endedTokens: EndedTokens
  readonly authorizedApplications: AuthorizedApplications
  readonly administration: Administration
  readonly activity: Activity
  readonly users: Users
  readonly consents: Consents
  /**
   * Runs work in a transaction, or in a savepoint if a transaction is open. The work must only use `tx`: an operation
   * outside of `tx` may wait for this transaction and cause a deadlock. If a row remains locked on PostgreSQL, the
   * transaction may be rolled back and `work` called again.
   */
  transaction<T>(work: (tx: Records) => Promise<T>): Promise<T>
}

export const allRecords = (context: RecordsContext): Records => ({
  clients: new Clients(context),
  tokens: new Tokens(context),
  personalTokens: new PersonalTokens(context),
  endedTokens: new EndedTokens(context),
  authorizedApplications: new AuthorizedApplications(context),
  administration: new Administration(context),
  activity: new Activity(context),
  users: new Users(context),
  consents: new Consents(context),
  transaction: (work) => withinTransaction(context, (tx) => work(allRecords(tx))),
})
