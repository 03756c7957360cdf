import { readFile } from 'node:fs/promises'

/**
 * Returns the texts of the style sheets. The build replaces this module with the texts, so that a bundle of the
 * application contains them.
 */
export const stylesheetSources = (): Promise<readonly string[]> =>
  Promise.all(
    [
      import.meta.resolve('simpledotcss/simple.min.css'),
      new URL('../../../pages/pages.css', import.meta.url),
    ].map((source) => readFile(new URL(source), 'utf8')),
  )
