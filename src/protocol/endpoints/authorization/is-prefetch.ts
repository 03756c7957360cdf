import type { HttpRequest } from '../../../http/request.ts'

// Chromium sends `Sec-Purpose`. Earlier versions of Chromium and other browsers send one of the other headers.
const names = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose'] as const

/** Returns whether the browser fetches or renders the page in advance, before the user opens it. */
export const isPrefetch = (http: Pick<HttpRequest, 'header'>): boolean =>
  names.some((name) => /prefetch|prerender|preview/i.test(http.header(name) ?? ''))
