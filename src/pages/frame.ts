import type { FormProblem } from './form-problem.ts'
import type { Html } from './html.ts'
import type { Messages } from './messages/en.ts'

/** The language of the reader of a page, and the locale for dates and numbers. */
export interface Reader {
  /** The code of a supported language, such as `en`. */
  readonly language: string
  /**
   * The requested language tag, with a region if possible, because `en-GB` and `en-US` format dates differently.
   */
  readonly locale: string
  readonly direction: 'ltr' | 'rtl'
}

/** The application's name and logo on a page. */
export interface Brand {
  readonly name: string
  /** The URL of an image; null to show only the name. */
  readonly logo: string | null
}

/** The URLs to which pages can link. */
export interface FrameLinks {
  readonly stylesheet: string
  readonly script: string
  readonly home: string
  /** The overview of a user's tokens and applications. */
  readonly applications: string
  readonly tokens: string
  readonly clients: string
  readonly authorized: string
  /** The sessions page; null if the application has its own login, and therefore its own sessions. */
  readonly sessions: string | null
  /** The page on which users change their passwords; null if the application manages the passwords. */
  readonly password: string | null
  /** The activity page of the user's account. */
  readonly activity: string
  /** The page on which a user looks up and revokes leaked secrets. */
  readonly leaked: string
  /** The overview of the administration. */
  readonly admin: string
  readonly adminApplications: string
  readonly adminTokens: string
  readonly adminUsers: string
  readonly adminActivity: string
  readonly login: string
  /** The page on which a user who forgot the password requests a link; null without the option `sendUserLink`. */
  readonly forgotPassword: string | null
  /** The page on which visitors create an account; null without the setting `signUp`. */
  readonly signUp: string | null
  /** The URL of the form that requests a link to verify the e-mail address; null without the option `sendUserLink`. */
  readonly verifyEmail: string | null
  /** The built-in logout, which requires a POST; null if the application has its own login. */
  readonly logout: string | null
  /** The logout page of the application; null if it is not configured. */
  readonly hostLogout: string | null
}

/** The result of the form that the user has just sent. */
export interface Outcome {
  /** The sentence about the completed action. */
  readonly done?: string | undefined
  /** The ID with which the page undoes the action; undefined if undo is impossible. */
  readonly undo?: string | undefined
  /** The reason why the form was refused. */
  readonly problem?: FormProblem | undefined
}

/** The values that all pages share, such as the name of the application, the URLs and the texts. */
export interface Frame {
  readonly brand: Brand
  readonly links: FrameLinks
  readonly reader: Reader
  readonly texts: Messages
  /** The logged-in user; null if no user is logged in, or if the page does not need the user. */
  readonly user: { readonly email: string; readonly isAdmin: boolean } | null
  /** The CSRF token for the forms of the page. */
  readonly csrfToken: string
  /**
   * The value of the hidden field `form_id` of every form. If a browser sends a form twice, the server
   * recognizes the repetition by this value. The value also proves for which user the page was rendered, even after the
   * session has ended.
   */
  readonly formId: string
  /**
   * The URL of an image at the end of a page that shows a notice or a new secret. The server shows the notice again
   * until the browser has loaded this image. Undefined without a notice.
   */
  readonly seen: string | undefined
  /** The result of the last form, which the settings pages display. */
  readonly outcome: Outcome
  /** Whether the request failed. The title of the page then begins with the word "Error". */
  readonly isError: boolean
  /** The time of the request, in milliseconds since the epoch. */
  readonly now: number
}

/** Renders a page. An application may replace each built-in template with its own pure function of the same type. */
export type PageTemplate<View> = (view: View, frame: Frame) => Html
