import { environmentName, names, settings } from './settings.ts'

/** What the reference page lists about each setting. */
export interface SettingDescription {
  readonly name: string
  readonly env: string
  readonly accepts: string
  readonly sentence: string
  readonly default: unknown
}

export const describeSettings = (): readonly SettingDescription[] =>
  names.map((name) => ({
    name,
    env: environmentName(name),
    accepts: settings[name].accepts,
    sentence: settings[name].sentence,
    default: settings[name].schema.parse(undefined),
  }))
