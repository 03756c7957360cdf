import type { ClientSite } from './client-site.ts'
import type { Person } from './site.ts'

/** Starts the authorization flow at the site of the client. */
export const begin = async (
  { page, press }: Person,
  { url }: ClientSite,
  scope?: string,
): Promise<void> => {
  await page.goto(scope === undefined ? url : `${url}?${new URLSearchParams({ scope })}`)
  await press(page.getByRole('link', { name: 'Log in with Notes' }))
}

/** Allows the request on the consent page. */
export const allow = ({ page, press }: Person): Promise<void> =>
  press(page.getByRole('button', { name: 'Allow' }))

/** Waits until the browser is back at the client with a granted authorization. */
export const arrives = async ({ page }: Person, { name }: ClientSite): Promise<void> => {
  await page.getByRole('heading', { name: `Welcome to ${name}` }).waitFor()
}
