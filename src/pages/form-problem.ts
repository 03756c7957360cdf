/** The reason why a submitted form was not saved, in the reader's language. */
export interface FormProblem {
  /** True if the user made no mistake. The page then shows a neutral notice instead of an error. */
  readonly isNeutral?: boolean
  /** The sentence that describes the problem of the whole form, or of its first invalid field. */
  readonly sentence: string
  /** All invalid fields; omitted if the problem concerns the whole form. */
  readonly fields?: readonly InvalidControl[]
}

/** The problem of one field of a form. */
export interface InvalidControl {
  readonly name: string
  readonly sentence: string
  /** The number of the line with the problem, from 1, if the field has one entry per line. */
  readonly line?: number | undefined
}
