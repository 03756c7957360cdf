import { environmentName, names, settings } from './settings.ts'

/** The description of a setting on the reference page. */
export interface SettingDescription {
  readonly name: string
  readonly env: string
  readonly accepts: string
  readonly sentence: string
  readonly default: unknown
}

/** Lists every setting with its environment name, accepted values and default. */
export const describeSettings = (): readonly SettingDescription[] =>
  names.map((name) => ({
    name,
    env: environmentName(name),
    accepts: settings[name].accepts,
    sentence: settings[name].sentence,
    default: settings[name].schema.parse(undefined),
  }))
