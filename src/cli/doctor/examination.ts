import { describeSettings, type Settings } from '../../index.ts'
import type { Ask } from './ask.ts'
import type { Metadata } from './metadata.ts'

/** A server that is being examined. */
export interface Examination {
  /** The address of the server as the examiner reaches it, without a slash at its end. */
  readonly issuer: string
  readonly metadata: Metadata
  readonly ask: Ask
  /** What is known of its configuration, where it is our own. */
  readonly settings: Settings | undefined
}

/**
 * Where an advertised endpoint is reached from here. One that names another host is reported once, and is looked
 * for at the host that is being examined.
 */
export const endpointOf = (
  { issuer, metadata }: Examination,
  member: string,
): string | undefined => {
  const address = metadata[member]
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined
  const { pathname, search } = new URL(address)
  return `${new URL(issuer).origin}${pathname}${search}`
}

const variables = new Map<string, string>(describeSettings().map(({ name, env }) => [name, env]))

/** The variable of a setting, with the value that is advised. */
export const setting = (name: keyof Settings, value: string): string =>
  `${variables.get(name)}=${value}`
