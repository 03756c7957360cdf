import type { ListOutcome } from '../pages/models/applications.ts'
import type { Notice } from '../protocol/short-lived.ts'
import { addresses } from './addresses.ts'
import type { Refused } from './settings-page.ts'
import type { SettingsRequest } from './settings-request.ts'

/** Returns the result of the last action, which the page of a list displays. */
export const outcomeOf = (
  { server }: SettingsRequest,
  { done, undo }: Notice,
  refused: Refused | undefined,
): ListOutcome => ({
  done,
  undo: undo === undefined ? undefined : { id: undo, action: addresses(server.ui).undo },
  problem: refused?.problem,
})
