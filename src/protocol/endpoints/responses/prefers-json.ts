import { parseAccept } from 'hono/utils/accept'
import type { HttpRequest } from '../../../http/request.ts'

type Asking = Pick<HttpRequest, 'header'>

/**
 * Returns whether the sender prefers JSON to a page: `Accept` lists JSON with a higher weight than HTML. Returns false
 * for a wildcard and without an `Accept` header.
 */
export const prefersJson = (http: Asking): boolean => weightOf(http, json) > weightOf(http, pages)

/** Returns whether the sender requests a page. Browsers that open a page list HTML in `Accept`; most scripts do not. */
export const asksForPage = (http: Asking): boolean =>
  weightOf(http, pages) > 0 && !prefersJson(http)

const json = ['application/json']
const pages = ['text/html', 'application/xhtml+xml']

const weightOf = (http: Asking, types: readonly string[]): number =>
  parseAccept(http.header('accept') ?? '')
    .filter(({ type }) => types.includes(type.toLowerCase()))
    .reduce((most, { q }) => Math.max(most, q), 0)
