import type { HttpRequest } from '../../../http/request.ts'

// Chromium sends Sec-Purpose; earlier versions and other browsers send one of the others.
const names = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose'] as const

/** Returns whether a browser fetches or renders the page in advance, before its user asks for it. */
export const isPrefetch = (http: Pick<HttpRequest, 'header'>): boolean =>
  names.some((name) => /prefetch|prerender|preview/i.test(http.header(name) ?? ''))
