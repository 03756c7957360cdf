import { isIP } from 'node:net'
import { z } from 'zod'
import type { GrantType } from '../model/client.ts'
import type { TokenEndpointAuthMethod } from '../model/entities/client.ts'
import { validName } from '../model/field-rules.ts'
import type { ResponseType } from '../model/response-type.ts'
import type { FromText, Setting } from './setting.ts'

/** Returns the setting with the type `Setting`, so that the published declarations do not contain types of zod. */
export const setting = <Input, Output>(
  definition: Setting<Input, Output>,
): Setting<Input, Output> => definition

export const verbatim: FromText = (text) => text
export const textOrNull: FromText = (text) => text || null
export const list: FromText = (text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
/** Parses a list such as `a=1/60,b=2/60`, in which each name is followed by points and seconds. */
export const limits: FromText = (text) => {
  const parts = list(text) as readonly string[]
  const given = parts.map((part) => /^([A-Za-z][\w/-]*)=(\d{1,9})\/(\d{1,9})$/.exec(part))
  if (!given.every((match) => match !== null)) return text
  return Object.fromEntries(
    given.map(([, name, points, seconds]) => [
      name,
      { points: Number(points), seconds: Number(seconds) },
    ]),
  )
}
export const json: FromText = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
export const number: FromText = (text) => (/^-?\d+$/.test(text.trim()) ? Number(text) : text)
export const boolean: FromText = (text) => ({ true: true, false: false })[text.trim()] ?? text

export const integer = (
  min: number,
  max: number,
  otherwise: number,
  sentence: string,
  env?: string,
) =>
  setting({
    schema: z.int().min(min).max(max).default(otherwise),
    fromText: number,
    accepts: `an integer from ${min} to ${max}`,
    sentence,
    ...(env === undefined ? {} : { env }),
  })

export const choice = <const T extends readonly [string, ...string[]]>(
  values: T,
  otherwise: T[number],
  sentence: string,
  env?: string,
): Setting<T[number] | undefined, T[number]> => ({
  schema: z.enum(values).default(otherwise as never) as never,
  fromText: verbatim,
  accepts: `one of ${values.join(', ')}`,
  sentence,
  ...(env === undefined ? {} : { env }),
})

export const flag = (otherwise: boolean, sentence: string) =>
  setting({
    schema: z.boolean().default(otherwise),
    fromText: boolean,
    accepts: 'true or false',
    sentence,
  })

/** Returns the schema of a list. The schema removes duplicates from the list. */
export const setOf = <S extends z.ZodType>(member: S) =>
  z
    .array(member)
    .transform((members) => [...new Set(members)])
    .readonly()

export const some = <const T extends readonly [string, ...string[]]>(
  values: T,
  otherwise: readonly T[number][],
  sentence: string,
): Setting<readonly T[number][] | undefined, readonly T[number][]> => ({
  schema: setOf(z.enum(values)).default(otherwise as never) as never,
  fromText: list,
  accepts: `a comma-separated list of ${values.join(', ')}`,
  sentence,
})

export const path = (otherwise: string, sentence: string) =>
  setting({
    schema: z
      .string()
      .regex(/^(?:\/[A-Za-z0-9\-._~]+)+$/)
      .default(otherwise),
    fromText: verbatim,
    accepts: 'a path such as /oauth, without a slash at its end',
    sentence,
  })

export const color = (sentence: string) =>
  setting({
    schema: z
      .string()
      .regex(/^#(?:[0-9A-Fa-f]{3}){1,2}$/)
      .nullable()
      .default(null),
    fromText: textOrNull,
    accepts: 'a colour such as #06c or #0066cc',
    sentence,
  })

export const isName = (text: string): boolean => {
  try {
    return validName(text) !== ''
  } catch {
    return false
  }
}

export const headerName = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/

const isCidr = (text: string): boolean => {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return (
    prefix === undefined ||
    (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
  )
}

export const isProxy = (text: string): boolean => text === 'unix' || isCidr(text)

export const grantTypes = [
  'authorization_code',
  'password',
  'client_credentials',
  'refresh_token',
] as const satisfies readonly GrantType[]
export const authMethods = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
] as const satisfies readonly TokenEndpointAuthMethod[]
export const responseTypes = ['code', 'token'] as const satisfies readonly ResponseType[]
