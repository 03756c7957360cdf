import type { ClientFields } from './client.ts'

/** What a client may have said of itself when it registered: that it never does without. */
type SelfImposedRule =
  | 'dpop_bound_access_tokens' // RFC 9449 §5.2
  | 'require_pushed_authorization_requests' // RFC 9126 §6

/** Whether a client wants to be held to a rule that others are free to follow. */
export const hasImposed = (
  { metadata }: Pick<ClientFields, 'metadata'>,
  rule: SelfImposedRule,
): boolean => {
  // Most clients say nothing, and are not worth the parsing.
  if (!metadata.includes(rule)) return false
  const said: unknown = JSON.parse(metadata)
  return typeof said === 'object' && said !== null && Reflect.get(said, rule) === true
}
