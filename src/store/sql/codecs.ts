import type { Flag } from '../../model/entities/field.ts'

export const flag = (value: boolean): Flag => (value ? 1 : 0)

export const joined = (list: readonly string[], separator = ' '): string => list.join(separator)

export const split = (text: string, separator = ' '): readonly string[] =>
  text === '' ? [] : text.split(separator)

export const splitOrNull = (text: string | null): readonly string[] | null =>
  text === null ? null : split(text)
