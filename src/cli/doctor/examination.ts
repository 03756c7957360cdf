import { describeSettings, type Settings } from '../../index.ts'
import type { Ask } from './ask.ts'
import type { Metadata } from './metadata.ts'

/** A server that is being examined. */
export interface Examination {
  /** The URL at which the doctor reaches the server, without a trailing slash. */
  readonly issuer: string
  readonly metadata: Metadata
  readonly ask: Ask
  /** The settings of the server, if they are known. */
  readonly settings: Settings | undefined
}

/**
 * Returns the URL of an endpoint from the metadata, with the origin of `issuer`; undefined without a valid URL. If the
 * metadata contains another origin, the check `addresses` reports that origin.
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

/** Returns a recommended setting in the form of an environment variable, such as `NAME=value`. */
export const setting = (name: keyof Settings, value: string): string =>
  `${variables.get(name)}=${value}`
