import type { FormProblem } from '../form-problem.ts'

/** One authorization of an application: for a browser, an installed program or a device. */
export interface DeviceItem {
  readonly href: string
  readonly revokeAction: string
  /** The browser and the operating system, such as `Chrome, Linux`; null if both are unknown. */
  readonly browser: string | null
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
}

/** The view of the page that asks for confirmation before several tokens are deleted or applications are revoked. */
export interface EndSelectedView {
  readonly kind: 'tokens' | 'applications'
  /** The URL of the form, which accepts the IDs in `id`, and the query of the list in `back`. */
  readonly action: string
  /** The URL of the list. */
  readonly cancel: string
  readonly back: string
  readonly entries: readonly {
    readonly id: string
    readonly name: string
    readonly detail: string
  }[]
  readonly problem: FormProblem | undefined
}
