/** The reasons for which sessions end before their expiry, as in the event `session.ended`. */
export const sessionEnds = [
  'logout',
  'elsewhere',
  'login',
  'password',
  'administrator',
  'limit',
] as const

/** A reason for which a session ended before its expiry. */
export type SessionEnd = (typeof sessionEnds)[number]

/** Returns whether a text is a reason for the end of a session. */
export const isSessionEnd = (text: unknown): text is SessionEnd =>
  (sessionEnds as readonly unknown[]).includes(text)
