import { parseAccept } from 'hono/utils/accept'
import type { HttpRequest } from '../../../http/request.ts'

type Asking = Pick<HttpRequest, 'header'>

/**
 * Returns whether the sender prefers JSON to a page: `Accept` gives JSON a higher weight than HTML, or the same weight by
 * a more specific range (RFC 9110 §12.5.1). Returns false without an `Accept` header, and if it accepts any type.
 */
export const prefersJson = (http: Asking): boolean => {
  const [asJson, asPage] = [acceptanceOf(http, json), acceptanceOf(http, pages)]
  return asJson.weight === asPage.weight
    ? asJson.weight > 0 && asJson.range < asPage.range
    : asJson.weight > asPage.weight
}

/**
 * Returns whether the sender requests a page. Browsers that open a page list HTML in `Accept`; most scripts accept any
 * type instead.
 */
export const asksForPage = (http: Asking): boolean => {
  const { weight, range } = acceptanceOf(http, pages)
  return weight > 0 && pages[range] !== anyType && !prefersJson(http)
}

// The ranges that contain JSON or a page, the most specific ones first.
const anyType = ['*/*']
const json = [['application/json'], ['application/*'], anyType]
const pages = [['text/html', 'application/xhtml+xml'], ['text/*'], anyType]

/** Returns the weight of a type, and the index of the most specific range that contains the type. */
const acceptanceOf = (http: Asking, ranges: typeof json) => {
  const accepted = parseAccept(http.header('accept') ?? '')
  const weights = ranges.map((types) =>
    accepted.filter(({ type }) => types.includes(type.toLowerCase())).map(({ q }) => q),
  )
  const range = weights.findIndex(({ length }) => length > 0)
  return { range, weight: Math.max(0, ...(weights[range] ?? [])) }
}
