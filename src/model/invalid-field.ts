/** A value that a record's field does not accept. Nothing has been written. */
export class InvalidField extends Error {
  override readonly name: string = 'InvalidField'
  /** The field's specified name, for instance `redirect_uris`. */
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}
