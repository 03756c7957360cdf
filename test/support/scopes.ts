import { emailScope, Scope } from 'svc-oauth2server'

/** The scopes of test servers: the scopes of the notes application, and an internal scope. */
export const testScopes = [
  emailScope,
  new Scope('notes:read', { helpText: 'Read your notes', group: 'Notes' }),
  new Scope('notes:write', { helpText: 'Write and delete your notes', group: 'Notes' }),
  new Scope('test:scope', { helpText: 'For tests', internal: true }),
]
