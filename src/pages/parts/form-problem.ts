/** What is wrong with a form that was sent, in the reader's language. */
export interface FormProblem {
  /** Stands above the form. */
  readonly sentence: string
  /** The field that it is about, by its name in the form; undefined: the form as a whole. */
  readonly field?: string | undefined
  /** The line of a field with one entry a line, counted from 1. */
  readonly line?: number | undefined
}
