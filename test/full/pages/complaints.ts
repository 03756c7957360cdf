import type { Page } from 'playwright-core'

/** Collects errors, warnings and violations of the content security policy that a page reports. */
export const complaintsOf = async (
  page: Page,
  issuer: string,
  hear: (complaint: string) => void,
): Promise<void> => {
  const isOurs = (url: string): boolean => url.startsWith(issuer)
  page.on('console', (message) => {
    const { url } = message.location()
    const kind = message.type()
    if ((kind !== 'error' && kind !== 'warning') || !isOurs(page.url())) return
    // Ignore the message about a 4xx status, because some tests expect a page with a 4xx status.
    const isStatus = message.text().startsWith('Failed to load resource: the server responded')
    if (isStatus && url === page.url()) return
    hear(`${page.url()}: ${message.text()} (${url})`)
  })
  page.on('pageerror', (error) => {
    if (isOurs(page.url())) hear(`${page.url()}: ${error}`)
  })
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // Ignore aborted requests, because a user may leave a page before all its resources have loaded.
    if (isOurs(page.url()) && reason !== 'net::ERR_ABORTED') hear(`${request.url()}: ${reason}`)
  })
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    console.error('violates ' + event.violatedDirective + ': ' + event.blockedURI)
  })`)
}
