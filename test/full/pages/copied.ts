import { expect } from 'vitest'
import type { Person } from './site.ts'
import type { Way } from './ways.ts'

/** Returns a value that the page displays. Copies it with the copy button if the page has scripts. */
export const copied = async (
  { page, press }: Person,
  { hasScripts }: Way,
  value: string,
): Promise<string> => {
  const element = page.locator(value)
  const text = (await element.textContent()) ?? ''
  const button = page.locator('.copyable').filter({ has: element }).getByRole('button')
  if (!hasScripts) {
    expect(await button.count(), 'a button that does nothing').toBe(0)
    return text
  }
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await press(button.filter({ hasText: 'Copy' }))
  await button.getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text)
  return text
}
