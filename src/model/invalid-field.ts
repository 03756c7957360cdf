/** What is wrong with a value, as a name that pages translate. */
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
  /** The limit, or the value that is wrong. */
  readonly value?: number | string
  /** The line of a field with one entry a line, counted from 1. */
  readonly line?: number
}

/** A value that a record's field does not accept. Nothing has been written. */
export class InvalidField extends Error {
  override readonly name: string = 'InvalidField'
  /** The field's specified name, for instance `redirect_uris`. */
  readonly field: string
  readonly detail: FieldDetail

  constructor(field: string, message: string, detail: FieldDetail = { problem: 'other' }) {
    super(message)
    this.field = field
    this.detail = detail
  }
}
