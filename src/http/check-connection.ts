import { type CheckMembers, onlyMembers } from '../model/members.ts'
import type { Connection } from './request.ts'

/** Refuses unknown properties of a connection. A misspelled `remoteAddress` would disable limits. @throws TypeError */
export const checkConnection: CheckMembers = onlyMembers<Connection>('connection', {
  remoteAddress: true,
  raw: true,
  target: true,
  requestId: true,
})
