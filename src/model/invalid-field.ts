/** The kind of problem with a value. Pages translate it. */
export type FieldProblem =
  | 'nameMissing'
  | 'nameTooLong'
  | 'unseenCharacter'
  | 'tooManyMarks'
  | 'descriptionTooLong'
  | 'websiteInvalid'
  | 'redirectUriTooLong'
  | 'redirectUriFragment'
  | 'redirectUriAnswerParameter'
  | 'redirectUriCharacter'
  | 'redirectUriPrivateUse'
  | 'redirectUriInvalid'
  | 'redirectUriNotHttps'
  | 'tooManyRedirectUris'
  | 'tooManyClients'
  | 'tooManyPersonalTokens'
  | 'scopeUnknown'
  | 'expiresInvalid'
  | 'expiresInPast'
  | 'expiresTooLate'
  | 'expiresMissing'
  | 'confirmName'
  | 'notRotatable'
  | 'changedMeanwhile'
  | 'overlapInvalid'
  | 'other'

export interface FieldDetail {
  readonly problem: FieldProblem
  /** The limit, or the invalid value. */
  readonly value?: number | string
  /** The line number in a field with one entry per line, counted from 1. */
  readonly line?: number
}

/** A value that a field of a record does not accept. Nothing was written. */
export class InvalidField extends Error {
  override readonly name: string = 'InvalidField'
  /** The name of the field in the specification, for instance `redirect_uris`. */
  readonly field: string
  readonly detail: FieldDetail

  constructor(field: string, message: string, detail: FieldDetail = { problem: 'other' }) {
    super(message)
    this.field = field
    this.detail = detail
  }
}
