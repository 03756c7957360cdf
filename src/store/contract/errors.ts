import { StartProblem } from '../../model/start-problem.ts'

/** The store cannot be reached, or cannot write. Requests fail with 503, not with an error about a credential. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** A unique value is taken. If the value is random, callers retry with another value. */
export class UniqueViolation extends Error {
  override readonly name = 'UniqueViolation'
}

/** A referenced row no longer exists, because it was deleted or received a new ID after it was read. */
export class ReferenceNotFound extends Error {
  override readonly name = 'ReferenceNotFound'
}

/** The operation would change a user in the table of the application. Only the application changes this table. */
export class NotOurUsers extends Error {
  override readonly name = 'NotOurUsers'
  constructor(
    message = 'The users belong to the application. Change users in the application, and call users.deleted(id) after a deletion.',
  ) {
    super(message)
  }
}

/** The store cannot be opened, or this version or configuration cannot use it. The message says what to do. */
export class StoreUnusable extends StartProblem {
  override readonly name = 'StoreUnusable'
}

/** A newer version has migrated the store. This version can still use the store, but cannot migrate the store. */
export class NewerSchema extends StoreUnusable {}

/** A client or its owner has changed since the caller read it. */
export class ClientChanged extends Error {
  override readonly name = 'ClientChanged'
}
