import { accepted, number, oneOf, onlyMembers, text, whole } from './members.ts'

/** The IDs of the problems. */
export const fieldProblems = [
  'emailInvalid',
  'emailUnseen',
  'emailLookAlike',
  'nameMissing',
  'nameTooLong',
  'unseenCharacter',
  'tooManyMarks',
  'descriptionTooLong',
  'websiteInvalid',
  'redirectUriTooLong',
  'redirectUriFragment',
  'redirectUriResponseParameter',
  'redirectUriCharacter',
  'redirectUriPrivateUse',
  'redirectUriInvalid',
  'redirectUriNotHttps',
  'redirectUrisMissing',
  'redirectUrisUnused',
  'applicationTooLong',
  'tooManyRedirectUris',
  'logoutUriInvalid',
  'tooManyClients',
  'tooManyPersonalTokens',
  'scopeUnknown',
  'expiresInvalid',
  'expiresInPast',
  'expiresTooLate',
  'expiresMissing',
  'expiredForGood',
  'undoTooLate',
  'confirmName',
  'notRotatable',
  'changedMeanwhile',
  'overlapInvalid',
  'passwordWrong',
  'passwordTooShort',
  'passwordTooLong',
  'looksLikeSecret',
  'ownAccount',
  'usersElsewhere',
  'credentialMissing',
  'credentialsTooMany',
  'credentialUnknown',
  'credentialNotYours',
  'other',
] as const

/** The ID of a problem. The pages have a translated message for each ID. */
export type FieldProblem = (typeof fieldProblems)[number]

/** The problem of an invalid field, from which the pages build a message in the language of the reader. */
export interface FieldDetail {
  readonly problem: FieldProblem
  /** The limit, or the invalid value. */
  readonly value?: number | string
  /** The line number, from 1, in a field with one entry per line. */
  readonly line?: number
}

const checkDetail = onlyMembers<FieldDetail>('InvalidField', {
  problem: oneOf(...fieldProblems),
  value: accepted('a text or a number', (value) => text.fits(value) || number.fits(value)),
  line: whole(1),
})

/** The error for an invalid value of a field. Nothing was written. */
export class InvalidField extends Error {
  override readonly name: string = 'InvalidField'
  /** The name of the field in forms and JSON, such as `redirect_uris`. */
  readonly field: string
  readonly detail: FieldDetail

  constructor(field: string, message: string, detail: FieldDetail = { problem: 'other' }) {
    super(message)
    checkDetail(detail)
    this.field = field
    this.detail = detail
  }
}

/** The errors of several invalid fields. The message, field and detail are those of the first error. */
export class InvalidFields extends InvalidField {
  /** The error of each invalid field or line. */
  readonly all: readonly InvalidField[]

  constructor(all: readonly [InvalidField, ...InvalidField[]]) {
    super(all[0].field, all[0].message, all[0].detail)
    this.all = all
  }
}

/** Throws a single error unchanged, and several errors as one `InvalidFields`. Does nothing for an empty list. */
export const throwTogether = (errors: readonly InvalidField[]): void => {
  const [first, ...more] = errors.flatMap((error) =>
    error instanceof InvalidFields ? error.all : error,
  )
  if (first) throw more.length === 0 ? first : new InvalidFields([first, ...more])
}

/**
 * Runs every check, and returns the results under the same names. Collects the errors of type `InvalidField`, so that a
 * form can show all of them. Throws any other error immediately.
 * @throws InvalidField for one invalid field, InvalidFields for several
 */
export const checkAll = <Checks extends Readonly<Record<string, () => unknown>>>(
  checks: Checks,
): { readonly [Name in keyof Checks]: ReturnType<Checks[Name]> } => {
  const errors: InvalidField[] = []
  const results = Object.entries(checks).map(([name, check]) => {
    try {
      return [name, check()]
    } catch (error) {
      if (!(error instanceof InvalidField)) throw error
      errors.push(error)
      return [name, undefined]
    }
  })
  throwTogether(errors)
  return Object.fromEntries(results)
}
