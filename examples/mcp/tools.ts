import { McpServer, requireScopes } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Note, Notes } from '../notes/notes.ts'

/** Creates the tools with which an AI client uses the notes of one user. */
export const notesTools = (notes: Notes, owner: string): McpServer => {
  const mcp = new McpServer({ name: 'notes', version: '1.0.0' })
  mcp.registerTool(
    'list_notes',
    { description: "The user's notes, oldest first.", annotations: { readOnlyHint: true } },
    () => asText(notes.of(owner)),
  )
  mcp.registerTool(
    'add_note',
    {
      description: 'Adds a note.',
      inputSchema: z.object({ text: z.string().trim().min(1).max(2_000) }),
      // This tool requires more scopes than the endpoint. The challenge lists all required scopes, so that the user
      // consents only once.
      scopeChallenge: requireScopes('notes:read', 'notes:write'),
    },
    ({ text }) => asText(notes.add({ owner, text })),
  )
  return mcp
}

const asText = (result: Note | readonly Note[]) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(result) }],
})
