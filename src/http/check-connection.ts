import { anything, type CheckMembers, onlyMembers, text } from '../model/members.ts'
import type { Connection } from './request.ts'

/** Refuses unknown properties of a connection. A misspelled `remoteAddress` would disable limits. @throws TypeError */
export const checkConnection: CheckMembers = onlyMembers<Connection>('connection', {
  remoteAddress: text,
  raw: anything,
  target: text,
  requestId: text,
})
