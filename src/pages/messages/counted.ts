/** The plural forms of a text that contains a number. `#` stands for the number. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & {
  readonly other: string
}

/** Returns a function that creates texts with a number: `counted('en')({ one: '# user', other: '# users' })`. */
export const counted = (language: string): ((forms: PluralForms) => (count: number) => string) => {
  // Create the formats at the first use. Creating the formats of all languages would take a tenth of the start-up time.
  let formats: { readonly rules: Intl.PluralRules; readonly numbers: Intl.NumberFormat } | undefined
  return (forms) => (count) => {
    formats ??= { rules: new Intl.PluralRules(language), numbers: new Intl.NumberFormat(language) }
    const { rules, numbers } = formats
    return (forms[rules.select(count)] ?? forms.other).replace('#', () => numbers.format(count))
  }
}
