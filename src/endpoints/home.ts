import type { Endpoint } from '../extension.ts'
import { homePage } from '../pages/home.ts'
import { browserOf } from '../session/browser.ts'
import { pageAnswer } from './answers.ts'

/** The start page of a server that stands alone; an embedded one leaves `/` to its application. */
export const homeEndpoint: Endpoint = {
  path: () => '/',
  methods: ['GET'],
  errors: 'page',
  async handle(request, { basePath, pageBase, sessions, settings }) {
    const signedIn = await sessions.signedIn(browserOf(request))
    const { csrfToken, setCookie } = sessions.csrf(request.headers.get('cookie'))
    const page = homePage({
      base: pageBase,
      user: signedIn?.user.email,
      login: `${basePath}${settings.loginPath}`,
      logout: `${basePath}${settings.logoutPath}`,
      csrfToken,
    })
    return pageAnswer(page, { setCookie })
  },
}
