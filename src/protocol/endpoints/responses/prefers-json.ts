import { parseAccept } from 'hono/utils/accept'
import type { HttpRequest } from '../../../http/request.ts'

type Asking = Pick<HttpRequest, 'headers'>

/**
 * Whether the sender wants JSON rather than a page: where it names JSON and gives no page as much weight.
 * A wildcard, or no `Accept` at all, means the page.
 */
export const prefersJson = (http: Asking): boolean => weightOf(http, json) > weightOf(http, pages)

/** Whether the sender is a browser that shows a page to somebody: it names HTML, as nothing else does. */
export const asksForPage = (http: Asking): boolean =>
  weightOf(http, pages) > 0 && !prefersJson(http)

const json = ['application/json']
const pages = ['text/html', 'application/xhtml+xml']

const weightOf = ({ headers }: Asking, types: readonly string[]): number =>
  parseAccept(headers.get('accept') ?? '')
    .filter(({ type }) => types.includes(type.toLowerCase()))
    .reduce((most, { q }) => Math.max(most, q), 0)
