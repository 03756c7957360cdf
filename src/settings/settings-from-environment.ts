import { given } from './given-value.ts'
import { InvalidSettings } from './invalid-settings.ts'
import { environmentName, names, type SettingsInput, settings } from './settings.ts'

/**
 * Reads settings from environment variables. The type of each setting decides how its text is parsed.
 * @throws InvalidSettings for an invalid value or an unknown `OAUTH2SERVER_` variable
 */
export const settingsFrom = (env: Readonly<Record<string, string | undefined>>): SettingsInput => {
  const problems: string[] = []
  const input: Record<string, unknown> = {}
  const known = new Map(names.map((name) => [environmentName(name), name]))
  for (const [variable, text] of Object.entries(env)) {
    if (text === undefined) continue
    const name = known.get(variable)
    if (!name) {
      if (variable.startsWith('OAUTH2SERVER_'))
        problems.push(`${variable} is not a setting. Check its spelling.`)
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
