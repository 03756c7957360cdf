import type { Html } from './html.ts'
import type { Messages } from './messages/en.ts'
import type { Language } from './messages/languages.ts'

/** Who reads the page: in which language, and how dates are written for them. */
export interface Reader {
  readonly language: Language
  /** The most exact tag of that language which the browser asked for: `en-GB` writes dates otherwise than `en-US`. */
  readonly locale: string
  readonly direction: 'ltr' | 'rtl'
}

/** What a page shows of the application that it belongs to. */
export interface Brand {
  readonly name: string
  /** An address of an image; null: the name alone. */
  readonly logo: string | null
}

/** The addresses that every page needs. */
export interface FrameLinks {
  readonly stylesheet: string
  readonly script: string
  readonly home: string
  readonly applications: string
  /** Null where users log in at the application itself, whose sessions we do not know. */
  readonly sessions: string | null
  /** What happened with the user's account. */
  readonly activity: string
  readonly admin: string
  readonly adminActivity: string
  readonly login: string
  readonly logout: string | null
}

/** All that a page has around its own content. */
export interface Frame {
  readonly brand: Brand
  readonly links: FrameLinks
  readonly reader: Reader
  readonly texts: Messages
  /** Who is signed in; null where nobody is, or where the page does not ask. */
  readonly user: { readonly email: string; readonly isAdmin: boolean } | null
  /** For the forms of the page. */
  readonly csrfToken: string
  /** Goes into the hidden field `form_id` of the settings' forms: the same form, sent twice, does one thing. */
  readonly formId: string
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Renders one kind of page: a pure function, which a host may replace with its own of the same type. */
export type PageTemplate<View> = (view: View, frame: Frame) => Html
