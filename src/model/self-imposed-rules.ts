import type { ClientFields } from './entities/client.ts'

/** A security rule that a client can enable for itself in its metadata. */
type SelfImposedRule =
  | 'dpop_bound_access_tokens' // RFC 9449 §5.2
  | 'require_pushed_authorization_requests' // RFC 9126 §6
  | 'require_signed_request_object' // RFC 9101 §10.5

/** Returns whether a client has enabled a rule for itself. */
export const hasImposed = (
  { metadata }: Pick<ClientFields, 'metadata'>,
  rule: SelfImposedRule,
): boolean => {
  // Most clients enable no rule, so avoid parsing their metadata.
  if (!metadata.includes(rule)) return false
  const value: unknown = JSON.parse(metadata)
  return typeof value === 'object' && value !== null && Reflect.get(value, rule) === true
}
