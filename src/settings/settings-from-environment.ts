import { given } from './given-value.ts'
import { InvalidSettings } from './invalid-settings.ts'
import { environmentName, names, type SettingsInput, settings } from './settings.ts'

/**
 * The settings that an environment names. Text is taken by each setting's type, never guessed.
 * @throws InvalidSettings for a wrong value or an unknown `OAUTH2SERVER_` name
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
