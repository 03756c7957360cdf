import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { Frame, Outcome } from '../../../pages/frame.ts'
import type { Pages, ViewOf } from '../../../pages/pages.ts'
import type { ServerContext, Ui } from '../../server-context.ts'
import { newFormId } from '../../session/form-ids.ts'
import { readerOf, textsOf } from './reader.ts'
import { pageResponse } from './responses.ts'

export interface RenderOptions {
  readonly status?: number | undefined
  /** The signed-in user, whom the page shows. */
  readonly signedIn?: SignedIn | undefined
  /** The URL of an image that the browser loads after it has received the page. */
  readonly seen?: string | undefined
  readonly outcome?: Outcome | undefined
  /** The requested languages, if they are not in the query of the request. */
  readonly uiLocales?: string | undefined
  /**
   * Whether to omit the cookie: for pages without a form, and for responses whose new cookie would overwrite a session
   * cookie.
   */
  readonly keepCookie?: boolean | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Renders a built-in page, or the host's replacement of this page, in the reader's language. */
export const renderPage = async <N extends keyof Pages>(
  http: HttpRequest,
  server: ServerContext,
  name: N,
  view: ViewOf<N>,
  options: RenderOptions = {},
): Promise<Response> => {
  const { status, uiLocales, keepCookie = false, headers } = options
  const reader = readerOf(http, server, { uiLocales })
  const { csrfToken, setCookie } = server.sessions.csrf(http.header('cookie'))
  const texts = await textsOf(reader, server)
  const html = server.ui.pages[name](view, frameOf(server, { reader, texts, csrfToken }, options))
  return pageResponse(html, {
    status,
    imageSource: logoOrigin(server.ui),
    setCookie: keepCookie ? undefined : setCookie,
    headers: {
      'content-language': reader.language,
      vary: 'accept-language, cookie',
      ...headers,
    },
  })
}

const frameOf = (
  server: ServerContext,
  own: Pick<Frame, 'reader' | 'texts' | 'csrfToken'>,
  { signedIn, seen, outcome = {}, status = 200 }: RenderOptions,
): Frame => ({
  brand: server.ui.brand,
  links: server.ui.links,
  ...own,
  user: signedIn ? { email: signedIn.user.email, isAdmin: signedIn.user.isAdmin } : null,
  formId: newFormId(signedIn?.user.id ?? null, server.settings.sessionExpiresIn, server),
  seen,
  outcome,
  isError: status >= 400,
  now: server.clock(),
})

const logoOrigin = ({ brand: { logo } }: Ui): string | undefined =>
  logo?.startsWith('https:') ? new URL(logo).origin : undefined
