import { given } from './given-value.ts'
import { InvalidSettings } from './invalid-settings.ts'
import { type Requirement, securityProfiles } from './security-profile.ts'
import { environmentName, names, type SettingName, type Settings, settings } from './settings.ts'

/**
 * Validates settings. Adds missing settings with the value of the security profile, or otherwise with the default.
 * @throws InvalidSettings The error lists every invalid setting.
 */
export const parseSettings = (input: Readonly<Record<string, unknown>>): Settings => {
  const problems: string[] = []
  const parsed: Record<string, unknown> = {}
  for (const name of names) {
    const { schema, accepts } = settings[name]
    const result = schema.safeParse(input[name])
    if (result.success) parsed[name] = result.data
    else
      problems.push(
        `${name} (${environmentName(name)}) accepts ${accepts}; ${given(name, input[name])}.`,
      )
  }
  problems.push(...applyProfile(input, parsed))
  if (problems.length > 0) throw new InvalidSettings(problems)
  return parsed as Settings
}

// Adds the profile's value of each missing setting. Returns a problem for each setting that contradicts the profile.
const applyProfile = (
  input: Readonly<Record<string, unknown>>,
  parsed: Record<string, unknown>,
): readonly string[] => {
  const profile = (parsed as Partial<Settings>).securityProfile ?? 'specification'
  const requirements = Object.entries<Requirement>(securityProfiles[profile])
  return requirements.flatMap(([name, { otherwise, isMet, needs }]) => {
    if (input[name] === undefined) parsed[name] = structuredClone(otherwise)
    if (!Object.hasOwn(parsed, name) || isMet(parsed[name])) return []
    const setting = name as SettingName
    return [
      `${name} (${environmentName(setting)}) must be ${needs} with securityProfile (${environmentName('securityProfile')}) ${profile}; ${given(setting, input[name])}.`,
    ]
  })
}
