import type { Setting } from './setting.ts'
import { type SettingName, settings } from './settings.ts'

/** Describes the given value of a setting for a start-up error. Omits the value of a secret setting. */
export const given = (name: SettingName, value: unknown): string => {
  const { isSecret = false }: Setting<unknown, unknown> = settings[name]
  return isSecret ? 'something else was given' : `the given value is ${shown(value)}`
}

const shown = (value: unknown): string => {
  const text = typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value))
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
