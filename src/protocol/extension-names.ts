import type { OwnKind } from '../crypto/digest.ts'
import type { OwnEventName } from '../model/audit-event.ts'
import { onlyMembers, whole } from '../model/members.ts'
import {
  isBuiltInErrorCode,
  OAuthError,
  type OAuthErrorOptions,
  type OwnErrorCode,
} from '../model/oauth-error.ts'
import type { About } from '../records/audit/audit-trail.ts'
import type { TransientValues } from '../records/transient-values.ts'
import { type Limit, maxPoints, maxSeconds } from '../settings/limit-table.ts'

declare const shape: unique symbol

/** A kind of short-lived values of the type `T`. */
export interface OwnShortLived<T> extends OwnBound {
  readonly [shape]?: T
}

/** The bound of a kind of short-lived values. */
export interface OwnBound {
  /** The maximum number of values of one owner. A further value removes the value that expires first. Default 100. */
  readonly most?: number
  /** The maximum number of characters of a value as JSON. Default 65,536. */
  readonly size?: number
}

/** Declares a kind of short-lived values of the type `T`. The values are stored as JSON. */
export const shortLived = <T>(bound: OwnBound = {}): OwnShortLived<T> => {
  checkBound(bound)
  return bound
}

const checkBound = onlyMembers<OwnBound>('shortLived()', { most: whole(1), size: whole(1) })

/** The names that an extension registers in addition to its grants and endpoints. */
export interface DeclaredNames {
  /** Error codes with their HTTP status. A code must differ from the built-in codes, because it has no prefix. */
  readonly errors?: Readonly<Record<string, number>>
  /** Limits: the maximum number of `points` in a period of `seconds`. */
  readonly limits?: Readonly<Record<string, Pick<Limit, 'points' | 'seconds'>>>
  /** Names of audit events. */
  readonly events?: readonly string[]
  /** Kinds of short-lived values, such as one-time codes. */
  readonly values?: Readonly<Record<string, OwnShortLived<unknown>>>
}

/** The names in an optional table. */
type KeyOf<T> = keyof NonNullable<T> & string

/** The part of the server context that `ExtensionNames` needs. */
interface Port {
  /** Returns the short-lived values of one kind. */
  transientValues<T>(kind: OwnKind, bound?: OwnBound): TransientValues<T>
  /** Records an audit event of an extension. */
  recordEvent(name: OwnEventName, about: About<OwnEventName>): Promise<void>
}

/** The names of one extension. Limits, events and values are stored with the name of the extension as a prefix. */
export interface ExtensionNames<D extends DeclaredNames = DeclaredNames> {
  readonly extension: string
  readonly declared: D
  /** The limits, for `server.limits`. */
  readonly limits: { readonly [Name in KeyOf<D['limits']>]: Limit }
  /** Creates an error with a code of the extension. The response contains `description`. The log contains `cause`. */
  error(
    code: KeyOf<D['errors']>,
    description: string,
    options?: Pick<OAuthErrorOptions, 'cause' | 'headers'>,
  ): OAuthError
  /** Returns the short-lived values of one kind. */
  values<Name extends KeyOf<D['values']>>(
    name: Name,
    server: Port,
  ): TransientValues<NonNullable<D['values']>[Name] extends OwnShortLived<infer T> ? T : never>
  /** Records an audit event. The details must not contain secrets. */
  record(
    event: NonNullable<D['events']>[number],
    about: About<OwnEventName>,
    server: Port,
  ): Promise<void>
}

/**
 * Declares the names that an extension registers. Set the result as `names` of the extension, so that the server checks
 * the names at start-up.
 * @param extension the name of the extension
 */
export const extensionNames = <const D extends DeclaredNames>(
  extension: string,
  declared: D,
): ExtensionNames<D> => {
  const own = <Name extends string>(name: Name): OwnKind & OwnEventName => `${extension}/${name}`
  const limits = Object.entries(declared.limits ?? {}).map(([name, limit]): [string, Limit] => [
    name,
    { ...limit, name: own(name) },
  ])
  return {
    extension,
    declared,
    limits: Object.fromEntries(limits) as ExtensionNames<D>['limits'],
    error: (code, description, options = {}) =>
      new OAuthError(code as string as OwnErrorCode, description, {
        ...options,
        status: declared.errors?.[code] ?? 400,
      }),
    values: (name, server) => server.transientValues(own(name), declared.values?.[name]),
    record: (event, about, server) => server.recordEvent(own(event), about),
  }
}

/** Returns the full names of the audit events that an extension declares. */
export const ownEvents = ({
  extension,
  declared,
}: Pick<ExtensionNames, 'extension' | 'declared'>): readonly string[] =>
  (declared.events ?? []).map((event) => `${extension}/${event}`)

/** Returns the full names of the limits that an extension declares. */
export const ownLimits = ({
  extension,
  declared,
}: Pick<ExtensionNames, 'extension' | 'declared'>): readonly string[] =>
  Object.keys(declared.limits ?? {}).map((limit) => `${extension}/${limit}`)

const extensionSyntax = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const nameSyntax = /^[a-z][a-zA-Z0-9]*(?:_[a-zA-Z0-9]+)*$/
const codeSyntax = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
/** The maximum number of characters of a name. */
const maxLength = 50

const fits = (name: string, syntax: RegExp): boolean =>
  name.length <= maxLength && syntax.test(name)

const isWhole = (number: number, max: number): boolean =>
  Number.isSafeInteger(number) && number > 0 && number <= max

/** Returns the problems with the names of an extension; empty if all names are valid. */
export const nameProblems = (
  name: string,
  names: Pick<ExtensionNames, 'extension' | 'declared'> | undefined,
): readonly string[] => {
  const problems: string[] = []
  if (!fits(name, extensionSyntax))
    problems.push(
      `its name must be lower-case words with hyphens, of at most ${maxLength} characters`,
    )
  if (!names) return problems
  const { errors = {}, limits = {}, events = [], values = {} } = names.declared
  if (names.extension !== name)
    problems.push(`its names belong to another extension, ${JSON.stringify(names.extension)}`)
  for (const own of [...Object.keys(limits), ...events, ...Object.keys(values)])
    if (!fits(own, nameSyntax)) problems.push(`${JSON.stringify(own)} is not a valid name`)
  for (const [limit, { points, seconds }] of Object.entries(limits))
    if (!isWhole(points, maxPoints) || !isWhole(seconds, maxSeconds))
      problems.push(
        `the limit ${limit} needs whole numbers from 1 to ${maxPoints} points and from 1 to ${maxSeconds} seconds`,
      )
  for (const [value, { most = 1, size = 1 }] of Object.entries(values))
    if (![most, size].every((number) => Number.isSafeInteger(number) && number > 0))
      problems.push(`the short-lived values ${value} need whole numbers above 0 as most and size`)
  if (new Set(events).size < events.length) problems.push('an event is declared twice')
  for (const [code, status] of Object.entries(errors)) {
    if (!fits(code, codeSyntax)) problems.push(`${JSON.stringify(code)} is not a valid error code`)
    if (isBuiltInErrorCode(code)) problems.push(`the error code ${code} is taken`)
    if (!Number.isInteger(status) || status < 400 || status > 499)
      problems.push(`the status of ${code} must be from 400 to 499`)
  }
  return problems
}
