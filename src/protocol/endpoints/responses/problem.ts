import type { HttpRequest } from '../../../http/request.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import type { Messages } from '../../../pages/messages/en.ts'
import type { ServerContext } from '../../server-context.ts'
import { readerOf, textsOf } from './reader.ts'
import { type RenderOptions, renderPage } from './render.ts'

/** The name of a problem, which is the key of its message. */
export type ProblemName = Exclude<keyof Messages['problem'], 'title' | 'notFoundTitle' | 'askAgain'>

/** A link with which the user can continue. */
export interface Way {
  readonly href: string
  text(texts: Messages): string
}

export interface ProblemOptions extends Pick<RenderOptions, 'uiLocales' | 'headers'> {
  readonly status: number
  /** The `error_description` of the protocol, in English. */
  readonly details?: string | undefined
  readonly ways?: readonly Way[]
}

/** Returns a page that explains a problem. The page has no form, so the response sets no cookie. */
export const renderProblem = async (
  http: HttpRequest,
  server: ServerContext,
  name: ProblemName,
  { status, details, ways = [], ...options }: ProblemOptions,
): Promise<Response> => {
  const texts = await textsOf(readerOf(http, server, options), server)
  const { problem } = texts
  const title = name === 'notFound' ? problem.notFoundTitle : problem.title
  const view = {
    title,
    sentence: problem[name],
    ways: ways.map((way) => ({ href: way.href, text: way.text(texts) })),
    ...(details === undefined ? {} : { details }),
  }
  return renderPage(http, server, 'problem', view, { ...options, status, keepCookie: true })
}

export const nothing = 'There is nothing at this address.'

/** Returns the error 404. A missing object and an object of another user cause the same error. */
export const notFound = (sentence = nothing): OAuthError =>
  new OAuthError('invalid_request', sentence, { status: 404 })

/** Returns the name of the problem that the page explains for an HTTP status. */
export const problemOf = (status: number): ProblemName => {
  if (status === 404) return 'notFound'
  if (status === 405) return 'wrongMethod'
  if (status === 413 || status === 414) return 'tooLarge'
  if (status === 429) return 'tooMany'
  if (status === 503) return 'unavailable'
  return status >= 500 ? 'failed' : 'badRequest'
}
