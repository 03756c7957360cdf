import type { Auth, PageSession } from 'svc-oauth2server'

// The responses of the test application without a framework, independent of the request API.

interface Note {
  readonly id: number
  readonly text: string
  readonly created_at: string
}

export class Notes {
  readonly #stored = new Map<unknown, readonly Note[]>()

  of({ user }: Auth): readonly Note[] {
    return this.#stored.get(user?.id) ?? []
  }

  add(auth: Auth, text: string): Note {
    const mine = this.of(auth)
    const note = { id: mine.length + 1, text, created_at: new Date().toISOString() }
    this.#stored.set(auth.user?.id, [...mine, note])
    return note
  }
}

export const meOf = ({ user, kind, scopes }: Auth): object => ({
  id: user?.id,
  email: scopes === null || scopes.includes('user:email') ? user?.email : undefined,
  kind,
})

export const publicOf = ({ user, kind }: Auth): object => ({ kind, user: user && { id: user.id } })

export const homePage = ({ user, jwt, csrfToken, links }: PageSession): string => `<!doctype html>
<title>Notes</title>
<script src="${links.script}" defer></script>
<p>${user ? user.email : 'Nobody'}</p>
${jwt()}
<form method="post" action="${links.logout}">
<input type="hidden" name="csrf_token" value="${csrfToken}">
</form>`
