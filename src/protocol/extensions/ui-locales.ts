// OpenID Connect Core 1.0 §3.1.2.1: ui_locales
import type { Extension } from '../plug-ins.ts'

/** Publishes the supported languages of the pages. The parameter `ui_locales` selects a language. RFC 8414 §2. */
export const uiLocales: Extension = {
  name: 'ui-locales',
  metadata: ({ ui }) => ({ ui_locales_supported: [...ui.texts.directions.keys()] }),
}
