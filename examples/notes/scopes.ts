import { Scope } from 'svc-oauth2server'

// The `entryPoints` of package.json name these as well, so that `npx svc-oauth2server` knows them.

export const notesRead = new Scope('notes:read', { helpText: 'Read your notes', group: 'Notes' })

export const notesWrite = new Scope('notes:write', {
  helpText: 'Write and delete your notes',
  group: 'Notes',
})

export const testScope = new Scope('test:scope', { helpText: 'For tests', internal: true })
