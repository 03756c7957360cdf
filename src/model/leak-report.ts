import type { UserId } from './user.ts'

/** A credential that became known to others, and has ended. */
export interface LeakedCredential {
  readonly kind: 'access_token' | 'refresh_token' | 'personal_token' | 'client_secret'
  /** The client that had it; of a personal token, the one behind it, which is gone with it. */
  readonly clientId: string
  /** The name of that client; of a personal token, the name that its user gave it. */
  readonly name: string
  /** Whom the token acted for, or who owns the client; null: nobody. */
  readonly userId: UserId | null
  /** Null for a client secret, and for a refresh token that had been rotated. */
  readonly tokenId: number | null
}

/** The same, with what the scanner says of where it was. The value itself stands nowhere in it. */
export interface LeakReport extends LeakedCredential {
  /** Empty where the scanner names none. */
  readonly url: string
  /** For instance `commit`; empty where the scanner names none. */
  readonly source: string
}

/** Tells the owner. It is called once the credential has ended, and nobody waits for it. */
export type OnLeaked = (report: LeakReport) => void | Promise<void>
