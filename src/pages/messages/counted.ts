/** The plural forms of a text that contains a number. `#` stands for the number. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & {
  readonly other: string
}

/** Returns a function that creates texts with a number: `counted('en')({ one: '# user', other: '# users' })`. */
export const counted = (language: string): ((forms: PluralForms) => (count: number) => string) => {
  const rules = new Intl.PluralRules(language)
  const numbers = new Intl.NumberFormat(language)
  return (forms) => (count) =>
    (forms[rules.select(count)] ?? forms.other).replace('#', () => numbers.format(count))
}
