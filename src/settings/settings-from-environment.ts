import { likelyName, unknownName } from '../model/likely-name.ts'
import { given } from './given-value.ts'
import { InvalidSettings } from './invalid-settings.ts'
import { environmentName, names, settings } from './settings.ts'
import type { SettingsInput } from './settings-input.ts'

/**
 * Reads settings from environment variables. The function `fromText` of each setting parses the text.
 * @throws InvalidSettings for an invalid value, an unknown `OAUTH2SERVER_` variable, or a misspelled name of a
 *   setting without this prefix, such as `OAUTH2_CACHE_TIPE`
 */
export const settingsFrom = (env: Readonly<Record<string, string | undefined>>): SettingsInput => {
  const problems: string[] = []
  const input: Record<string, unknown> = {}
  const known = new Map(names.map((name) => [environmentName(name), name]))
  const variables = [...known.keys(), ...otherVariables]
  for (const [variable, text] of Object.entries(env)) {
    if (text === undefined) continue
    const name = known.get(variable)
    if (!name) {
      if (isMisspelled(variable, variables) && !isOfKubernetes(variable, text))
        problems.push(unknownName(variable, 'a setting', variables))
      continue
    }
    const { fromText, schema, accepts } = settings[name]
    const value = fromText(text)
    if (schema.safeParse(value).success) input[name] = value
    else problems.push(`${variable} accepts ${accepts}; ${given(name, text)}.`)
  }
  if (problems.length > 0) throw new InvalidSettings(problems)
  return input as SettingsInput
}

/** Variables of this package that are not settings, although their names begin like the names of settings. */
const otherVariables = [
  'OAUTH2_CACHE_REDIS_URL',
  'OAUTH2SERVER_RESOURCES',
  'OAUTH2SERVER_INTROSPECTION_CLIENTS',
]

/**
 * Returns whether Kubernetes set the variable. Every container of a namespace receives such variables for each Service,
 * for instance `OAUTH2SERVER_PORT=tcp://10.0.0.1:80` beside a Service of the name `oauth2server`. The value distinguishes
 * this variable from a misspelled `PORT`.
 */
const isOfKubernetes = (variable: string, text: string): boolean => {
  if (variable.endsWith('_SERVICE_HOST')) return true
  if (variable.includes('_SERVICE_PORT')) return /^\d{1,5}$/.test(text)
  const [, part] = /_PORT(?:_\d{1,5}_(?:TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)?$/.exec(variable) ?? []
  if (part !== undefined) return true
  return /_(?:PORT|TCP|UDP|SCTP)$/.test(variable) && /^(?:tcp|udp|sctp):\/\//.test(text)
}

// Other programs use variables such as OAUTH2_PROXY_CLIENT_ID. A variable that begins with OAUTH2_ or TRUSTED_PROX is
// therefore an error only if its name is similar to a known name.
const isMisspelled = (variable: string, variables: readonly string[]): boolean => {
  if (variables.includes(variable)) return false
  if (variable.startsWith('OAUTH2SERVER_')) return true
  return /^(?:OAUTH2_|TRUSTED_PROX)/.test(variable) && likelyName(variable, variables) !== undefined
}
