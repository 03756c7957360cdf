import type { HttpRequest } from '../../../http/request.ts'

// Chromium sends Sec-Purpose, earlier versions and other browsers one of the others.
const names = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose'] as const

/** Whether a browser fetches or renders a page in advance, which its user may never look at. */
export const isPrefetch = (http: Pick<HttpRequest, 'header'>): boolean =>
  names.some((name) => /prefetch|prerender|preview/i.test(http.header(name) ?? ''))
