import { AbilityBuilder, createMongoAbility, type MongoAbility } from '@casl/ability'
import type { RequestHandler } from 'express'
import type { Auth } from 'svc-oauth2server'
import { authOf } from 'svc-oauth2server/express'
import type { StoredNote } from './notes.ts'

type Action = 'read' | 'create' | 'delete'
type Ability = MongoAbility<[Action, 'Note' | StoredNote]>

/**
 * Returns the actions that a user may perform, and the notes on which the user may perform them. Scopes only restrict a
 * token further: a token never permits more than its user may do.
 */
export const abilityOf = ({ user }: Auth): Ability => {
  const { can, build } = new AbilityBuilder<Ability>(createMongoAbility)
  // A client without an owner has no user, and therefore no notes.
  if (user) can(['read', 'create', 'delete'], 'Note', { owner: String(user.id) })
  return build({ detectSubjectType: () => 'Note' })
}

/** Refuses callers who may not perform this action on any note. Use this middleware after the guards of a route. */
export const may =
  (action: Action): RequestHandler =>
  (req, res, next) => {
    if (abilityOf(authOf(req)).can(action, 'Note')) return next()
    res.status(403).json({ status: 403, message: `You may not ${action} notes.` })
  }
