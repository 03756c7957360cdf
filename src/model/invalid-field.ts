/** The ID of a problem, under which the pages find the translated message. */
export type FieldProblem =
  | 'nameMissing'
  | 'nameTooLong'
  | 'unseenCharacter'
  | 'tooManyMarks'
  | 'descriptionTooLong'
  | 'websiteInvalid'
  | 'redirectUriTooLong'
  | 'redirectUriFragment'
  | 'redirectUriResponseParameter'
  | 'redirectUriCharacter'
  | 'redirectUriPrivateUse'
  | 'redirectUriInvalid'
  | 'redirectUriNotHttps'
  | 'redirectUrisMissing'
  | 'redirectUrisUnused'
  | 'tooManyRedirectUris'
  | 'tooManyClients'
  | 'tooManyPersonalTokens'
  | 'scopeUnknown'
  | 'expiresInvalid'
  | 'expiresInPast'
  | 'expiresTooLate'
  | 'expiresMissing'
  | 'expiredForGood'
  | 'undoTooLate'
  | 'confirmName'
  | 'notRotatable'
  | 'changedMeanwhile'
  | 'overlapInvalid'
  | 'passwordWrong'
  | 'passwordTooShort'
  | 'passwordTooLong'
  | 'looksLikeSecret'
  | 'ownAccount'
  | 'usersElsewhere'
  | 'credentialMissing'
  | 'credentialsTooMany'
  | 'credentialUnknown'
  | 'credentialNotYours'
  | 'other'

/** The problem of an invalid field, for the message in the language of the reader. */
export interface FieldDetail {
  readonly problem: FieldProblem
  /** The limit, or the invalid value. */
  readonly value?: number | string
  /** The line number, from 1, in a field with one entry per line. */
  readonly line?: number
}

/** The error for an invalid value of a field. The record was not changed. */
export class InvalidField extends Error {
  override readonly name: string = 'InvalidField'
  /** The name of the field in the specification, such as `redirect_uris`. */
  readonly field: string
  readonly detail: FieldDetail

  constructor(field: string, message: string, detail: FieldDetail = { problem: 'other' }) {
    super(message)
    this.field = field
    this.detail = detail
  }
}
