import { counted } from './counted.ts'
import type { Messages } from './en.ts'

const count = counted('fr')

// `\u00a0` and `\u202f` are the non-breaking spaces of French punctuation.
export const fr: Messages = {
  frame: {
    skip: 'Aller au contenu',
    navigation: 'Compte',
    applications: 'Applications',
    tokens: 'Jetons',
    clients: 'Mes applications',
    authorized: 'Applications autorisées',
    sessions: 'Sessions',
    activity: 'Activité',
    leaked: 'Secret divulgué',
    admin: 'Administration',
    logout: 'Se déconnecter',
    copy: 'Copier',
    copied: 'Copié',
    next: 'Page suivante',
    previous: 'Page précédente',
    first: 'Première page',
    pages: 'Pages',
    save: 'Enregistrer les modifications',
    cancel: 'Annuler',
    error: (title: string) => `Erreur\u00a0: ${title}`,
    saveAnyway: 'Enregistrer quand même',
    confirmLosses: 'Rien n’est encore enregistré. Si vous enregistrez ces modifications\u00a0:',
    conflict:
      'Une autre fenêtre a apporté des modifications pendant que vous travailliez\u00a0: rien n’a été enregistré. Votre version est toujours dans le formulaire. Si vous l’enregistrez, elle remplace l’autre version\u00a0:',
    savedVersion: 'Enregistré entre-temps',
    yourVersion: 'Votre version',
    correct: 'Veuillez corriger les points suivants\u00a0:',
    line: (line: number, sentence: string) => `Ligne ${line}\u00a0: ${sentence}`,
    kept: 'Je l’ai copié',
  },
  facts: {
    clientId: 'ID client',
    clientSecret: 'Secret client',
    type: 'Type',
    confidential: 'Confidentielle',
    public: 'Publique',
    verified: 'Vérifiée',
    disabled: 'Désactivée',
    selfRegistered: 'Enregistrée par elle-même',
    selfDescribed: 'Décrite par elle-même',
    pinned: 'Document figé',
    expired: 'Expiré',
    created: 'Création',
    users: 'Utilisateurs',
    moreThan: (count) => `plus de ${count}`,
    expires: 'Expiration',
    never: 'Jamais',
    expiresSoon: (time: string) => `Expire ${time}`,
    endsWith: (end: string) => `se termine par ${end}`,
    lastUsed: 'Dernière utilisation',
    neverUsed: 'Aucune pour l’instant',
    from: (address: string) => `depuis ${address}`,
    owner: 'Enregistrée par',
    nobody: 'Personne',
    website: 'Site web',
    since: 'Autorisation accordée le',
    permissions: 'Autorisations',
    noPermissions: 'Aucune, hormis savoir qui vous êtes',
    read: 'Lecture seule',
    write: 'Peut modifier',
    highRisk: 'Risque élevé',
    otherGroup: 'Autres',
    unknownBrowser: 'Navigateur ou programme inconnu',
    words: (name: string) => `Comment ${name} se présente\u00a0:`,
  },
  login: {
    title: 'Connexion',
    continueTo: (client: string) =>
      `${client} demande l’accès à votre compte. Vous déciderez après vous être connecté.`,
    email: 'Adresse e-mail',
    password: 'Mot de passe',
    submit: 'Se connecter',
    wrong: 'L’adresse e-mail ou le mot de passe est incorrect.',
    tooMany:
      'Trop de mots de passe incorrects ont été saisis. Attendez dix minutes, puis réessayez.',
    stale:
      'Cette page n’est plus à jour, par exemple parce que vous vous êtes connecté ou déconnecté dans une autre fenêtre. Veuillez réessayer.',
    noCookie:
      'Votre navigateur n’a envoyé aucun cookie. Autorisez les cookies pour ce site et réessayez.',
    foreign: 'Ce formulaire a été envoyé depuis un autre site. Veuillez vous connecter ici.',
    loggedOut:
      'Vous avez été déconnecté avant l’enregistrement. Connectez-vous\u00a0: le formulaire contient encore votre saisie.',
    dropsCookies:
      'Safari ne peut pas se connecter à une adresse qui commence par http://. Utilisez un autre navigateur, comme Firefox ou Chrome, ou ouvrez ce site en https.',
    expired: 'Votre session a expiré. Connectez-vous à nouveau pour continuer.',
  },
  home: {
    title: 'Accueil',
    nobody: 'Personne n’est connecté.',
    user: 'Session ouverte avec le compte',
    login: 'Se connecter',
    applications: 'Applications et jetons personnels',
    aboutApplications:
      'Enregistrez des applications, créez des jetons pour vos propres programmes et voyez à qui vous avez permis d’agir en votre nom.',
    sessions: 'Sessions',
    aboutSessions: 'Voyez où vos sessions sont ouvertes et déconnectez-vous à distance.',
    admin: 'Administration',
    aboutAdmin: 'Gérez toutes les applications et tous les jetons.',
  },
  consent: {
    title: (client: string) => `Autoriser ${client}\u202f?`,
    asks: (client: string) =>
      `${client} souhaite agir en votre nom et demande les autorisations suivantes\u00a0:`,
    nothing: (client: string) =>
      `${client} souhaite s’assurer que c’est bien vous. Aucune autre autorisation ne lui est accordée.`,
    asksMore: (client: string) =>
      `${client} a déjà accès à votre compte et demande en plus les autorisations suivantes\u00a0:`,
    asksAgain: (client: string) => `${client} redemande ce que vous avez déjà autorisé\u00a0:`,
    allowedBefore: 'Vous avez déjà autorisé\u00a0:',
    optional: 'Vous pouvez décocher ce que vous ne voulez pas autoriser.',
    user: 'Session ouverte avec le compte',
    otherAccount: 'Ce n’est pas vous\u202f? Utilisez un autre compte',
    owner: 'Enregistrée par',
    website: 'Site web',
    destination: 'Redirection vers',
    local: 'un programme sur cet ordinateur même',
    unverified: (brand: string) =>
      `Cette application n’a pas été vérifiée par ${brand}. Ne l’autorisez que si vous savez qui la propose.`,
    selfRegistered: (brand: string) =>
      `Cette application s’est enregistrée elle-même. Personne chez ${brand} ne l’a vérifiée\u00a0: son nom et tout ce qu’elle dit d’elle-même peuvent être faux. Ne l’autorisez que si vous savez qui la propose.`,
    selfDescribed: (host: string) =>
      `Cette application se décrit elle-même à l’adresse ${host}. Personne ici ne l’a vérifiée\u00a0: son nom et tout ce qu’elle dit d’elle-même peuvent être faux. Ne l’autorisez que si vous savez qui se trouve derrière cette adresse.`,
    localCaution:
      'Si vous l’autorisez, c’est un programme de cet ordinateur qui recevra l’autorisation. N’importe quel programme peut se faire passer pour cette application\u00a0: ne l’autorisez que si vous venez de la lancer vous-même.',
    terms: 'Conditions d’utilisation',
    privacy: 'Vie privée',
    mixesAlphabets:
      'Le nom contient des lettres qui ressemblent à celles d’un autre alphabet. Assurez-vous qu’il s’agit bien de l’éditeur auquel vous pensez.',
    lasting:
      'Votre autorisation reste valable jusqu’à ce que vous la révoquiez sous «\u202fApplications autorisées\u202f».',
    accept: 'Autoriser',
    undecided:
      'Ni «\u202fAutoriser\u202f» ni «\u202fRefuser\u202f» n’a été choisi. Choisissez l’un des deux.',
    refuse: 'Refuser',
  },
  device: {
    title: 'Associer un appareil',
    about: 'Votre appareil ou votre programme affiche un code. Saisissez-le ici.',
    code: 'Code',
    codeHint: 'Huit lettres, par exemple WDJB-MJHT, en majuscules ou en minuscules.',
    submit: 'Continuer',
    wrong:
      'Ce code n’est pas valide. Il a peut-être été mal saisi, a expiré ou a déjà été utilisé.',
    tooMany:
      'Trop de codes incorrects ont été saisis. Attendez dix minutes, puis demandez un nouveau code sur votre appareil.',
    warning:
      'N’autorisez cela que si vous venez de le lancer vous-même, sur un appareil qui est à vous. Si quelqu’un vous a envoyé ce code ou un lien, refusez\u00a0: cette personne agirait en votre nom.',
    shows: 'Votre appareil doit afficher exactement ce code\u00a0:',
    allowedTitle: 'Accès autorisé',
    allowed: (client: string) => `${client} peut maintenant agir en votre nom.`,
    goBack:
      'Retournez à votre appareil\u00a0: la suite s’y déroule d’elle-même dans quelques secondes.',
    refusedTitle: 'Accès refusé',
    refused: (client: string) => `${client} ne peut rien faire en votre nom.`,
    close: 'Vous pouvez fermer cette page.',
  },
  applications: {
    title: 'Applications',
    clients: {
      title: 'Mes applications',
      about:
        'Les applications que vous avez enregistrées. Elles peuvent demander à d’autres personnes, et à vous, l’autorisation d’agir ici en leur nom.',
      none: 'Vous n’avez encore enregistré aucune application.',
      invite:
        'Enregistrez-en une, et chacun pourra se connecter à votre site ou à votre programme avec son compte sur ce service.',
      create: 'Enregistrer une application',
    },
    tokens: {
      title: 'Mes jetons personnels',
      about:
        'Des clés pour vos propres scripts et programmes. Chacun de ces jetons agit en votre nom, dans la limite des autorisations que vous avez choisies pour lui.',
      none: 'Vous n’avez pas encore de jeton personnel.',
      invite:
        'Créez-en un pour utiliser l’API depuis un script, la ligne de commande ou un autre programme.',
      create: 'Créer un jeton',
      delete: 'Supprimer',
      deleteNamed: (name: string) => `Supprimer ${name}`,
      deleteSelected: 'Supprimer les jetons sélectionnés',
      deleteSome: count({ one: 'Supprimer # jeton ?', other: 'Supprimer # jetons ?' }),
    },
    authorized: {
      title: 'Applications que j’ai autorisées',
      about:
        'Les applications qui peuvent agir en votre nom parce que vous l’avez autorisé. Vous pouvez revenir sur cette décision à tout moment.',
      none: 'Vous n’avez autorisé aucune application à agir en votre nom.',
      invite:
        'Lorsque vous vous connecterez à un autre site ou programme avec votre compte sur ce service, vous le retrouverez dans cette liste.',
      devices: count({ one: '# appareil', other: '# appareils' }),
      moreDevices: count({ one: 'et # autre appareil', other: 'et # autres appareils' }),
      revoke: 'Révoquer',
      revokeNamed: (name: string) => `Révoquer ${name}`,
      revokeSelected: 'Révoquer les applications sélectionnées',
      revokeSome: count({ one: 'Révoquer # application ?', other: 'Révoquer # applications ?' }),
      revokeSomeAbout:
        'Ces applications perdent l’accès à votre compte, sur tous les appareils, et devront vous redemander l’autorisation. Cette opération est définitive.',
      revokeAll: 'Révoquer toutes les applications',
      revokeAllAbout:
        'Plus aucune application ne pourra agir en votre nom, sur aucun appareil. Vos propres jetons personnels sont conservés.',
    },
  },
  list: {
    search: 'Rechercher',
    searchHint: 'Une partie du nom',
    order: 'Ordre',
    orders: {
      newest: 'Plus récents d’abord',
      oldest: 'Plus anciens d’abord',
      name: 'Par nom',
      expires: 'Expiration la plus proche d’abord',
      used: 'Utilisés récemment d’abord',
      unused: 'Inutilisés depuis longtemps d’abord',
    },
    filter: 'Afficher',
    filters: {
      never_used: 'Jamais utilisés',
      expiring: 'Expirent dans la semaine',
      expired: 'Expirés',
      no_expiry: 'Sans expiration',
      confidential: 'Confidentielles',
      public: 'Publiques',
      verified: 'Vérifiées',
      disabled: 'Désactivées',
      unverified: 'Non vérifiées',
      unused: 'Sans jeton',
      self_registered: 'Enregistrées par elles-mêmes',
    },
    everything: 'Tout',
    kind: 'Type',
    anyKind: 'Tous les types',
    kinds: {
      personal: 'Jetons personnels',
      access: 'Jetons d’accès seuls',
      refresh: 'Avec jeton d’actualisation',
    },
    scope: 'Autorisation',
    anyScope: 'Toutes les autorisations',
    apply: 'Appliquer',
    clear: 'Tout afficher',
    entries: count({ one: '# élément', other: '# éléments' }),
    found: (found: string, all: string) => `${found} sur ${all}`,
    partial:
      'Cette liste est longue : la recherche et le tri portent sur 1 000 éléments à la fois. La page suivante continue avec les autres éléments.',
    nothing: 'Aucun résultat.',
    nothingYet:
      'Aucun résultat parmi ces éléments. La page suivante continue avec les éléments plus anciens.',
    showAll: 'Tout voir',
    select: (name: string) => `Sélectionner ${name}`,
    selectedNone: 'Sélectionnez au moins un élément de la liste.',
    undo: 'Annuler la suppression',
  },
  client: {
    newTitle: 'Enregistrer une application',
    newAbout:
      'Une application enregistrée peut demander à des personnes l’autorisation d’agir ici en leur nom. Elle est reconnue à son ID client.',
    create: 'Enregistrer l’application',
    name: 'Nom',
    nameHint: 'Ce que l’on lit lorsque votre application demande une autorisation.',
    description: 'Description',
    descriptionHint:
      'Facultatif. Ce que fait votre application et pourquoi elle a besoin d’autorisations.',
    website: 'Site web',
    websiteHint: 'Facultatif. Où en savoir plus\u202f; l’adresse commence par https://',
    logoHint:
      'Facultatif. L’adresse https:// d’une image PNG, JPEG, WebP ou GIF de 1024 × 1024 pixels et de 100 Ko au plus. On la voit une fois qu’un administrateur a vérifié votre application.',
    redirectUris: 'URI de redirection',
    redirectUrisHint:
      'Un URI par ligne. Après avoir décidé, on revient à l’une de ces adresses. L’adresse doit être exacte et commencer par https:// (ou par http:// sur votre propre ordinateur).',
    logoutFields: 'Déconnexion (OpenID Connect)',
    postLogoutRedirectUris: 'URI de redirection après déconnexion',
    postLogoutRedirectUrisHint:
      'Facultatif, un URI par ligne. Après une déconnexion demandée par votre application, on revient à l’une de ces adresses.',
    backchannelLogoutUri: 'URI de déconnexion par canal secondaire (back-channel)',
    backchannelLogoutUriHint:
      'Facultatif. Ce serveur envoie un jeton de déconnexion à cette adresse lorsque la session d’une personne se termine.',
    type: 'Type',
    confidentialHint:
      'Elle s’exécute sur votre serveur et peut garder un secret, comme une application web.',
    publicHint:
      'D’autres personnes peuvent voir ce qu’elle contient, comme une application mobile ou de bureau, ou une page sans serveur. Elle n’a pas de secret.',
    defaultScopes: 'Autorisations par défaut',
    defaultScopesHint:
      'Ce que votre application demande lorsque sa requête ne précise pas d’autorisations. Sans utilisateur, avec client_credentials, votre application ne peut obtenir que celles-ci.',
    optionalScopes: 'Autorisations facultatives',
    optionalScopesHint: 'On peut les décocher et accorder quand même les autres.',
    losses: {
      verification:
        'La vérification prend fin. Un administrateur devra vérifier l’application à nouveau.',
      secret: 'Le secret du client devient invalide.',
      tokens:
        'Tous les jetons de l’application deviennent invalides, et chacun devra l’autoriser à nouveau.',
    },
    credentials: 'Identifiants',
    secretKept:
      'Affiché une seule fois, lors de sa création. Si vous l’avez perdu, créez-en un nouveau ci-dessous.',
    secretOnce:
      'Copiez le secret client maintenant. Il n’est affiché que cette fois-ci, et nous ne pourrons plus vous le montrer.',
    previousSecret: (time: string) => `L’ancien secret reste valide jusqu’au ${time}.`,
    secretLeaked: (time: string) =>
      `Le secret client a été trouvé à un endroit où d’autres peuvent le lire. Il ne fonctionne plus depuis le ${time} : créez-en un nouveau ci-dessous.`,
    disabledAbout:
      'Un administrateur a désactivé cette application. Tant que cette décision est en vigueur, l’application et ses jetons sont refusés.',
    tryIt: 'Essayer',
    tryItStart: 'Démarrer le flux comme le ferait votre application',
    tryItAbout:
      'Ce lien mène à la page où l’on décide. Vous arrivez ensuite à votre URI de redirection, avec un code dans l’adresse.',
    tryItCurl:
      'Dans la minute qui suit, échangez le code contre un jeton d’accès. Mettez le code à la place de CODE\u00a0:',
    tryItCurlSecret:
      'Dans la minute qui suit, échangez le code contre un jeton d’accès. Mettez le code à la place de CODE et le secret client à la place de SECRET\u00a0:',
    settings: 'Paramètres',
    reset: 'Nouveau secret client',
    resetAbout: 'Faites-le si le secret a pu être connu d’autres personnes ou s’il a été perdu.',
    overlap: 'Garder l’ancien secret valide pendant',
    overlapHint: 'Le temps de mettre le nouveau à la place de l’ancien.',
    resetSubmit: 'Créer un nouveau secret',
    delete: 'Supprimer cette application',
    deleteAbout:
      'Tous ses jetons cessent aussitôt de fonctionner, et chacun devra l’autoriser à nouveau si vous l’enregistrez une autre fois. Cette action est irréversible.',
    confirmName: (name: string) =>
      `Pour confirmer, saisissez le nom de l’application\u00a0: ${name}`,
    deleteSubmit: 'Supprimer l’application',
    kindLegend: 'Genre d’application',
    grants: 'Flux autorisés',
    endpoints: 'Points de terminaison',
    endpointsAbout: 'Un client qui lit les métadonnées y trouve les autres adresses.',
    newTab: 'S’ouvre dans un nouvel onglet.',
    tryMachine: 'Demandez un jeton d’accès pour l’application elle-même\u00a0:',
    tryMachineSecret:
      'Demandez un jeton d’accès pour l’application elle-même. Mettez le secret client à la place de SECRET\u00a0:',
    refusals: 'Derniers refus',
    refusalsAbout:
      'Requêtes portant l’ID client de cette application et refusées ces sept derniers jours, la plus récente d’abord. Quiconque connaît l’ID client peut provoquer une entrée.',
    kinds: {
      web: {
        name: 'Application web',
        about:
          'Elle s’exécute sur votre serveur et garde un secret. On l’autorise dans le navigateur.',
      },
      spa: {
        name: 'Application monopage',
        about: 'Elle s’exécute seulement dans le navigateur, donc sans secret. Elle utilise PKCE.',
      },
      native: {
        name: 'Application native',
        about:
          'Elle s’exécute sur un téléphone, un ordinateur ou en ligne de commande, donc sans secret. Elle utilise PKCE, ou affiche un code sur les appareils sans navigateur.',
      },
      machine: {
        name: 'Programme autonome',
        about:
          'Un programme sur votre serveur qui agit pour lui-même, sans autres personnes. Il n’a pas besoin d’URI de redirection.',
      },
    },
  },
  token: {
    newTitle: 'Créer un jeton personnel',
    newAbout:
      'Un jeton est comme un mot de passe pour un programme\u00a0: quiconque le possède peut faire ce que vous autorisez ici. N’autorisez que ce dont le programme a besoin.',
    create: 'Créer le jeton',
    name: 'Nom',
    nameHint: 'À quoi il sert, pour le reconnaître plus tard.',
    expires: 'Expiration',
    expiresHint: 'Un jeton qui expire bientôt cause moins de dégâts s’il est volé.',
    onDay: 'À une date',
    onDayHint: 'Le jeton est valide jusqu’à la fin de ce jour.',
    onDayLast: (day: string) =>
      `Le jeton est valide jusqu’à la fin de ce jour, au plus tard le ${day}.`,
    until: (day: string) => `jusqu’au ${day}`,
    unchanged: 'Sans changement',
    neverHint: 'Le jeton est valide jusqu’à ce que vous le supprimiez.',
    prefilled:
      'Un lien a rempli ce formulaire. Ne créez le jeton que si vous faites confiance à la source du lien.',
    scopes: 'Autorisations',
    scopesHint:
      'Ce qu’un programme muni de ce jeton peut faire en votre nom. Vous pourrez le modifier plus tard.',
    noScopes: 'Il n’y a rien à choisir\u00a0: le jeton indique qui vous êtes.',
    once: 'Copiez le jeton maintenant. Il n’est affiché que cette fois-ci, et nous ne pourrons plus vous le montrer.',
    value: 'Jeton personnel',
    curl: 'Pour l’essayer, exécutez ceci dans la ligne de commande\u00a0:',
    expiredAbout: 'Ce jeton a expiré\u00a0: il est refusé. Supprimez-le ou créez-en un nouveau.',
    previous: (time: string) => `L’ancienne valeur reste valide jusqu’au ${time}.`,
    endFormer: 'Mettre fin à l’ancienne valeur maintenant',
    usesOnly: (used: string, total: number) =>
      `Autorisations utilisées : seulement ${used} sur ${total}`,
    usesOnlyAbout:
      'Les autorisations inutilisées ne servent qu’à la personne qui volerait le jeton. Vous pouvez les ajouter de nouveau à tout moment.',
    reduce: 'Ne garder que les autorisations utilisées',
    settings: 'Paramètres',
    rotate: 'Nouvelle valeur',
    rotateAbout:
      'Le jeton garde son nom et ses autorisations et reçoit une nouvelle valeur. Faites-le si la valeur a pu être connue d’autres personnes ou si elle a été perdue.',
    overlap: 'Garder l’ancienne valeur valide pendant',
    overlapHint: 'Le temps de mettre la nouvelle à la place de l’ancienne.',
    rotateSubmit: 'Créer une nouvelle valeur',
    delete: 'Supprimer ce jeton',
    deleteAbout:
      'Les programmes qui utilisent ce jeton perdent immédiatement l’accès. Vous pouvez annuler pendant dix secondes.',
    deleteSomeAbout:
      'Les programmes qui utilisent ces jetons perdent immédiatement l’accès. Vous pouvez annuler pendant dix secondes.',
    deleteSubmit: 'Supprimer le jeton',
  },
  overlap: { none: 'Aucun délai\u00a0: fin immédiate' },
  authorization: {
    title: (client: string) => `Ce que ${client} peut faire`,
    device: 'Appareil',
    ends: 'Fin en cas d’inutilisation',
    permissions: 'L’application peut\u00a0:',
    revoke: 'Révoquer sur cet appareil',
    revokeAbout:
      'L’application est déconnectée sur cet appareil et peut à nouveau vous demander une autorisation.',
    revokeAll: 'Révoquer sur tous les appareils',
    revokeAllAbout:
      'L’application est déconnectée partout et doit à nouveau vous demander une autorisation.',
  },
  sessions: {
    title: 'Sessions',
    about:
      'Les navigateurs dans lesquels votre session est ouverte. Si vous ne reconnaissez pas l’un d’eux, déconnectez-le et changez votre mot de passe.',
    current: 'Ce navigateur',
    address: 'Adresse IP',
    since: 'Connexion',
    lastSeen: 'Dernière activité',
    end: 'Déconnecter',
    endNamed: (browser: string) => `Déconnecter ${browser}`,
    others: 'Déconnecter partout ailleurs',
    othersAbout: 'Tous les navigateurs sauf celui-ci seront déconnectés.',
    alone: 'Vous n’avez aucune autre session ouverte.',
    ended: 'Récemment terminées',
    endedReasons: {
      logout: 'Vous vous êtes déconnecté(e).',
      elsewhere: 'Vous avez déconnecté un navigateur depuis un autre navigateur.',
      login: 'Une nouvelle connexion dans le même navigateur a remplacé la session.',
      password: 'Le mot de passe a été modifié.',
      administrator: 'Un administrateur vous a déconnecté(e).',
      limit: 'Il y avait trop de sessions\u00a0: la plus ancienne a été fermée.',
    },
  },
  formPost: {
    title: 'Continuer vers l’application',
    sentence: 'Si l’application ne s’ouvre pas d’elle-même, appuyez sur le bouton.',
    submit: 'Continuer',
  },
  logout: {
    title: 'Se déconnecter ?',
    asks: (client: string) => `${client} souhaite vous déconnecter.`,
    user: 'Session ouverte avec le compte',
    submit: 'Se déconnecter',
    stay: 'Rester connecté',
    doneTitle: 'Vous êtes déconnecté',
    done: 'Vous n’êtes plus connecté ici.',
    back: 'Revenir à l’application',
  },
  userLinks: {
    reset_password: {
      title: 'Mot de passe oublié ?',
      about:
        'Saisissez votre adresse e-mail. Vous recevrez un lien qui vous permettra de définir un nouveau mot de passe.',
      openTitle: 'Définir un nouveau mot de passe',
      submit: 'Définir le mot de passe',
      done: 'Votre mot de passe a été modifié. Connectez-vous avec le nouveau mot de passe.',
    },
    sign_up: {
      title: 'Créer un compte',
      about:
        'Saisissez votre adresse e-mail. Vous recevrez un lien qui vous permettra de créer votre compte.',
      openTitle: 'Créer un compte',
      submit: 'Créer le compte',
      done: 'Votre compte a été créé. Vous pouvez maintenant vous connecter.',
    },
    verify_email: {
      openTitle: 'Confirmer l’adresse e-mail',
      submit: 'Confirmer',
      done: 'Votre adresse e-mail est confirmée.',
      about: 'Vous n’avez pas encore confirmé votre adresse e-mail :',
    },
    request: 'Envoyer le lien',
    sent: (email) =>
      `Consultez votre messagerie. Si l’adresse ${email} est correcte, vous recevrez un lien valable pendant une heure.`,
    toLogin: 'Retour à la connexion',
    tooMany: 'Trop de liens ont été demandés. Réessayez dans dix minutes.',
  },
  password: {
    title: 'Modifier le mot de passe',
    about:
      'Ensuite, vous ne resterez connecté que dans ce navigateur. Les applications et les jetons personnels conservent leur accès.',
    current: 'Mot de passe actuel',
    next: 'Nouveau mot de passe',
    hint: (min: number) => `Au moins ${min} caractères.`,
    submit: 'Modifier le mot de passe',
  },
  activity: {
    title: 'Activité récente',
    about:
      'Ce qui s’est passé avec votre compte. Si vous ne reconnaissez pas quelque chose, changez de mot de passe et révoquez ce que vous ne connaissez pas.',
    none: 'Rien pour l’instant.',
    from: 'Depuis',
    browser: 'Navigateur ou programme',
    somebodyElse: 'Quelqu’un d’autre, par exemple un administrateur',
    since: 'Du jour',
    until: 'Au jour',
    changes: 'Modifications',
    download: 'Télécharger',
    atMost: (count: string) => `Au plus ${count} événements, les plus récents d’abord.`,
    emptyValue: 'vide',
  },
  events: {
    'login.succeeded': 'Connexion',
    'login.failed': 'Une connexion a été refusée',
    'session.ended': 'Déconnexion',
    'consent.given': 'Application autorisée à agir',
    'consent.withdrawn': 'Toutes les permissions d’une application retirées',
    'token.issued': 'Une application a obtenu un jeton',
    'id_token.issued': 'Connexion à une application',
    'token.refreshed': 'Une application a renouvelé son jeton',
    'token.revoked': 'Un jeton a été révoqué',
    'token.deleted': 'Jeton supprimé',
    'refresh_token.reused': 'Un ancien jeton d’actualisation a été réutilisé',
    'authorization_code.reused': 'Un code a été utilisé deux fois',
    'device_code.reused': 'Un code d’appareil a été utilisé deux fois',
    'personal_token.created': 'Jeton personnel créé',
    'personal_token.edited': 'Jeton personnel modifié',
    'personal_token.rotated': 'Nouvelle valeur pour un jeton personnel',
    'personal_token.deleted': 'Jeton personnel supprimé',
    'personal_token.restored': 'Jeton personnel rétabli',
    'client.created': 'Application enregistrée',
    'client.edited': 'Application modifiée',
    'client.deleted': 'Application supprimée',
    'client.secret_reset': 'Nouveau secret client',
    'client.registration_token_leaked': 'Jeton d’enregistrement divulgué et invalidé',
    'client.secret_leaked': 'Secret client divulgué et invalidé',
    'client.id_reset': 'Nouvel ID client',
    'client.verified': 'Application vérifiée',
    'client.unverified': 'Vérification retirée',
    'client.logo_changed': 'Logo d’une application téléchargé',
    'client.disabled': 'Application désactivée',
    'client.enabled': 'Application activée',
    'client.pinned': 'Document d’une application figé',
    'client.unpinned': 'Document d’une application libéré',
    'user.created': 'Utilisateur créé',
    'user.activated': 'Utilisateur activé',
    'user.deactivated': 'Utilisateur désactivé',
    'user.tokens_ended': 'Révocation de tous les jetons d’un utilisateur',
    'client.tokens_ended': 'Révocation de tous les jetons d’une application',
    'user.admin_granted': 'Utilisateur devenu administrateur',
    'user.admin_withdrawn': 'Un utilisateur n’est plus administrateur',
    'user.password_changed': 'Mot de passe modifié',
    'user.email_verified': 'Adresse e-mail confirmée',
    'user.email_changed': 'Adresse e-mail modifiée',
    'user.deleted': 'Utilisateur supprimé',
    'user.vanished': 'Données d’un utilisateur disparu supprimées',
    'users.missing': 'Nombreux utilisateurs introuvables, rien n’a été supprimé',
    'secret_key.rotated': 'Clé secrète du serveur changée',
    'signing_key.created': 'Nouvelle clé de signature',
  },
  admin: {
    title: 'Administration',
    mostRefused: 'Les plus refusées',
    mostRefusedAbout:
      'Applications dont les requêtes ont été le plus souvent refusées ces sept derniers jours, avec les dernières raisons. Quiconque connaît un identifiant client peut causer une entrée.',
    clients: 'Applications',
    clientsAbout: 'Toutes les applications enregistrées, quel que soit leur propriétaire.',
    searchClients: 'Rechercher des applications',
    searchClientsHint: 'Nom, ID client ou propriétaire',
    noClients: 'Aucune application trouvée.',
    tokens: 'Jetons',
    tokensAbout: 'Tous les jetons émis, sans aucun moyen d’en voir la valeur.',
    searchTokens: 'Rechercher des jetons',
    searchTokensHint: 'Adresse e-mail, ID client ou numéro du jeton',
    noTokens: 'Aucun jeton trouvé.',
    search: 'Rechercher',
    all: 'Tout afficher',
    activityAbout: 'Tout ce qui a changé qui peut faire quoi, le plus récent en premier.',
    event: 'Événement',
    allEvents: 'Tous les événements',
    userHint: 'Adresse e-mail ou ID',
    noEvents: 'Aucun événement n’a été trouvé.',
    routine: 'Événements courants des dernières 24 heures',
    routineAbout:
      'Jetons que les applications ont demandés pour elles-mêmes, échangés ou renouvelés. Ils sont comptés au lieu d’être listés.',
    routineCount: 'Nombre',
    grantType: 'Type d’autorisation',
    token: 'Numéro du jeton',
    request: 'ID de la requête',
    actors: {
      client: 'Une application',
      command_line: 'La ligne de commande',
      system: 'Le serveur',
      unknown: 'Inconnu',
    },
    at: 'Quand',
    actor: 'Par',
    owner: 'Propriétaire',
    user: 'Utilisateur',
    redirectUris: 'URI de redirection',
    personal: 'Jeton personnel',
    issued: 'Émis pour une application',
    tokensOfClient: 'Jetons de cette application',
    activityOfClient: 'Activité de cette application',
    verify: 'Vérifier',
    unverify: 'Retirer la vérification',
    logo: 'Logo',
    logoRequested: 'Le serveur télécharge le logo. Rechargez la page dans quelques secondes.',
    logoFailed: 'Le logo n’a pas pu être téléchargé\u00a0:',
    fetchLogo: 'Télécharger à nouveau le logo',
    disable: 'Désactiver',
    enable: 'Activer',
    pin: 'Figer le document',
    unpin: 'Ne plus figer le document',
    defaultResource: 'Ressource par défaut',
    noDefaultResource: 'Réglage du serveur',
    delete: 'Supprimer',
    deleteNamed: (name: string) => `Supprimer ${name}`,
    deleteAbout:
      'L’application et tous ses jetons disparaissent aussitôt. Cette action est irréversible.',
    confirmName: (name: string) => `Pour confirmer, saisissez son nom\u00a0: ${name}`,
  },
  users: {
    title: 'Utilisateurs',
    about:
      'Trouvez un utilisateur, consultez ses sessions, jetons et applications, et mettez-y fin.',
    search: 'Rechercher des utilisateurs',
    hint: 'Début de l’adresse e-mail, ou identifiant',
    exactHint: 'Adresse e-mail complète ou identifiant',
    notSearchable: 'Votre application gère ses utilisateurs et n’offre pas de recherche ici.',
    none: 'Aucun utilisateur n’a été trouvé.',
    inactive: 'Désactivé',
    administrator: 'Administrateur',
    unverified: 'Adresse e-mail non confirmée',
    id: 'Identifiant',
    sessions: 'Sessions ouvertes',
    noSessions: 'Connecté nulle part.',
    hostSessions: 'Votre application gère les connexions : déconnectez l’utilisateur là-bas.',
    tokens: 'Jetons personnels',
    noTokens: 'Aucun jeton personnel.',
    clients: 'Applications enregistrées',
    noClients: 'Aucune application enregistrée.',
    authorized: 'Applications autorisées',
    noAuthorized: 'Aucune application autorisée.',
    allActivity: 'Toute l’activité de cet utilisateur',
    deactivate: {
      label: 'Désactiver l’utilisateur',
      about:
        'L’utilisateur ne peut plus se connecter, et tous ses jetons et applications sont refusés jusqu’à ce qu’il soit réactivé.',
    },
    activate: {
      label: 'Activer l’utilisateur',
      about:
        'L’utilisateur peut de nouveau se connecter, et ses jetons et applications fonctionnent de nouveau.',
    },
  },
  leaked: {
    title: 'Un secret a été divulgué',
    about:
      'Collez un jeton, un secret client ou un code que d’autres ont pu voir. Vous voyez ce que c’est et décidez ce qu’il en advient.',
    aboutAdmin:
      'Collez un jeton, un secret client ou un code que d’autres ont pu voir, de n’importe quel utilisateur ou de n’importe quelle application. Vous voyez ce que c’est et décidez ce qu’il en advient.',
    paste: 'Le secret divulgué',
    pasteHint:
      'Un en-tête, une commande curl entière ou une ligne de journal conviennent aussi. Le texte n’est ni enregistré ni affiché de nouveau.',
    lookUp: 'Rechercher',
    again: 'Rechercher un autre secret',
    stale: 'Le résultat n’est plus enregistré. Collez le secret de nouveau.',
    tooMany: 'Trop de secrets inconnus ont été collés. Réessayez dans une minute.',
    kinds: {
      personal_token: 'Jeton personnel',
      access_token: 'Jeton d’accès de',
      refresh_token: 'Jeton d’actualisation de',
      client_secret: 'Secret client de',
      authorization_code: 'Code d’autorisation pour',
      device_code: 'Code d’appareil pour',
      session: 'Session d’un navigateur',
      registration_token: 'Jeton d’enregistrement de',
      user_link: 'Lien par e-mail à',
    },
    ending: 'Se termine par',
    valid: 'Fonctionne encore',
    ended: 'Ne fonctionne plus',
    application: 'Application concernée',
    bound: 'Lié à une clé',
    boundAbout: 'Oui : sans la clé de l’application, il est inutilisable.',
    history: 'Ce qui s’est passé',
    acts: {
      end: {
        label: 'Révoquer ce secret',
        about:
          'Il cesse immédiatement de fonctionner, et les programmes qui l’utilisent perdent l’accès. Cette action est irréversible.',
      },
      endSecret: {
        label: 'Révoquer ce secret client',
        about:
          'L’application ne peut plus s’identifier tant que son propriétaire n’a pas créé un nouveau secret.',
      },
      endSession: {
        label: 'Déconnecter ce navigateur',
        about: 'Le navigateur de cette session est déconnecté.',
      },
      endApplication: {
        label: 'Révoquer tous les jetons de l’application',
        about:
          'L’application perd l’accès à tous les comptes et doit demander de nouveau à chaque utilisateur. Son secret reste valable.',
      },
      revokeApplication: {
        label: 'Révoquer l’application',
        about:
          'L’application perd l’accès à votre compte sur tous les appareils et doit vous demander de nouveau.',
      },
      endUser: {
        label: 'Révoquer tous les jetons de l’utilisateur',
        about:
          'Tous les jetons personnels de l’utilisateur cessent de fonctionner, et toutes les applications perdent l’accès au compte. Cette action est irréversible.',
      },
      endMine: {
        label: 'Révoquer tous mes jetons',
        about:
          'Tous vos jetons personnels cessent de fonctionner, et toutes les applications perdent l’accès à votre compte. Cette action est irréversible.',
      },
      disable: {
        label: 'Désactiver l’application',
        about:
          'L’application et tous ses jetons sont refusés jusqu’à ce qu’un administrateur la réactive.',
      },
      logOut: {
        label: 'Déconnecter l’utilisateur partout',
        about: 'Tous les navigateurs de l’utilisateur sont déconnectés.',
      },
      logOutElsewhere: {
        label: 'Se déconnecter partout ailleurs',
        about: 'Tous vos navigateurs sauf celui-ci sont déconnectés.',
      },
    },
  },
  error: {
    title: 'Cela n’a pas fonctionné',
    known: {
      invalid_request: {
        what: 'L’application a envoyé une requête inutilisable. C’est très probablement une erreur de l’application, pas la vôtre.',
        advice:
          'Retournez à l’application et réessayez. Si cela se reproduit, transmettez à son éditeur les informations ci-dessous.',
      },
      unauthorized_client: {
        what: 'L’application n’est pas configurée pour ce qu’elle a tenté de faire. C’est une erreur de l’application, pas la vôtre.',
        advice: 'Transmettez à son éditeur les informations ci-dessous.',
      },
      unsupported_response_type: {
        what: 'L’application a demandé quelque chose que ce serveur ne propose pas. C’est une erreur de l’application, pas la vôtre.',
        advice: 'Transmettez à son éditeur les informations ci-dessous.',
      },
      invalid_scope: {
        what: 'L’application a demandé une autorisation qu’elle ne peut pas obtenir. C’est une erreur de l’application, pas la vôtre.',
        advice: 'Transmettez à son éditeur les informations ci-dessous.',
      },
      access_denied: {
        what: 'L’autorisation a été refusée. Personne n’a commis d’erreur\u00a0: l’application ne peut rien faire en votre nom.',
        advice:
          'Vous pouvez fermer cette page. Si vous changez d’avis, recommencez depuis l’application.',
      },
      login_required: {
        what: 'L’application voulait continuer sans vous demander de vous connecter, et vous n’êtes pas connecté ici. Rien n’a été fait.',
        advice: 'Retournez à l’application et recommencez.',
      },
      server_error: {
        what: 'Un problème est survenu de notre côté. Ce n’est ni votre erreur ni celle de l’application.',
        advice: 'Retournez à l’application et réessayez dans quelques minutes.',
      },
      temporarily_unavailable: {
        what: 'Le service n’est pas disponible pour le moment. Ce n’est ni votre erreur ni celle de l’application.',
        advice: 'Retournez à l’application et réessayez dans quelques minutes.',
      },
    },
    expired: {
      what: 'La demande de l’application a expiré ou a déjà été utilisée. Rien n’a été modifié.',
      advice: 'Retournez à l’application et recommencez depuis le début.',
    },
    unknown: {
      what: 'L’application et ce serveur n’ont pas réussi à s’entendre. C’est très probablement une erreur de l’application, pas la vôtre.',
      advice:
        'Retournez à l’application et réessayez. Si cela se reproduit, transmettez à son éditeur les informations ci-dessous.',
    },
    again: 'Retournez à l’application et réessayez.',
    onlyYou: 'Seuls le propriétaire de l’application et les administrateurs voient ceci.',
    disabled: 'Un administrateur a désactivé l’application.',
    refusedUri: 'URI de redirection de la requête',
    registeredUris: 'URI de redirection enregistrés',
    noUri: 'Aucun',
    differs: 'Ce qui diffère',
    openClient: 'Ouvrir l’application',
    parts: {
      scheme: 'Le schéma, comme http ou https',
      host: 'L’hôte',
      port: 'Le port',
      path: 'Le chemin',
      trailingSlash: 'La barre oblique à la fin du chemin',
      letterCase: 'Majuscules et minuscules',
      query: 'La requête après ?',
      fragment: 'La partie après #',
      character: 'Un caractère interdit dans les adresses, affiché comme U+…',
    },
    code: 'Code d’erreur',
    details: 'Détails',
    home: 'Aller à l’accueil',
  },
  problem: {
    atWork:
      'Ce formulaire a été envoyé deux fois et nous le traitons encore. Consultez de nouveau la page dans un instant.',
    staleLogout:
      'Cette page n’est plus à jour, vous n’avez donc pas été déconnecté. Déconnectez-vous depuis la page d’accueil.',
    title: 'Cela n’a pas fonctionné',
    stale: 'Cette page n’est plus à jour. Veuillez décider à nouveau.',
    foreign: 'Ce formulaire n’appartient pas à votre session. Rien n’a été fait.',
    loggedOut: 'Votre session est terminée. Retournez à l’application et recommencez.',
    decided:
      'Cette demande a déjà reçu une réponse ou a expiré. Retournez à l’application et recommencez.',
    askAgain: 'Afficher de nouveau la demande',
    clientChanged: 'L’application a changé ou n’existe plus. Rien n’a été fait.',
    notFound: 'Il n’y a rien à cette adresse.',
    notFoundTitle: 'Page introuvable',
    failed: 'Un problème est survenu de notre côté. Veuillez réessayer plus tard.',
    unavailable:
      'Le service n’est pas disponible pour le moment. Veuillez réessayer dans un instant.',
    wrongMethod:
      'Cette adresse ne peut pas être utilisée de cette façon. Revenez en arrière et réessayez.',
    tooLarge: 'Les données envoyées sont trop volumineuses. Rien n’a été fait.',
    badRequest: 'Les données envoyées sont illisibles. Rien n’a été fait.',
    late: 'Cette page est restée ouverte trop longtemps. Rien n’a été modifié. Affichez de nouveau la demande.',
    tooMany:
      'Il y a eu trop de requêtes. Rien n’a été modifié. Attendez quelques minutes, puis réessayez.',
    linkInvalid: 'Ce lien n’est plus valable ou a déjà été utilisé. Demandez un nouveau lien.',
  },
  problems: {
    usersElsewhere: 'Votre application gère ses utilisateurs : désactivez cet utilisateur là-bas.',
    looksLikeSecret:
      'Ceci ressemble à un secret. Une recherche l’inscrirait dans des adresses et des journaux.',
    ownAccount: 'Ceci est votre propre compte : seul un autre administrateur peut le désactiver.',
    credentialMissing: 'Ce texte ne contient aucun secret. Collez la valeur entière.',
    credentialsTooMany: 'Le texte est trop long. Collez seulement la ligne avec le secret.',
    credentialUnknown: 'Ce serveur ne connaît aucun secret de ce texte, ou il ne fonctionne plus.',
    credentialNotYours: 'Aucun de vos secrets ne figure dans ce texte, ou il ne fonctionne plus.',
    notRotatable:
      'Ce jeton possède une autorisation que seul le service lui-même accorde ; il ne peut donc pas recevoir de nouvelle valeur ici.',
    changedMeanwhile:
      'L’application a été modifiée depuis l’ouverture de cette page. Vérifiez-la à nouveau.',
    nameMissing: 'Saisissez un nom.',
    nameTooLong: (limit: number) => `Le nom ne doit pas dépasser ${limit} caractères.`,
    emailInvalid: 'Ce n’est pas une adresse e-mail.',
    emailUnseen:
      'L’adresse contient un caractère invisible. Saisissez-la au clavier au lieu de la coller.',
    emailLookAlike:
      'L’adresse contient des lettres qui ressemblent à d’autres. Saisissez-la dans un seul alphabet.',
    unseenCharacter:
      'Le texte contient un caractère invisible. Saisissez-le au clavier au lieu de le coller.',
    tooManyMarks: 'Une lettre porte trop de signes diacritiques.',
    descriptionTooLong: (limit: number) =>
      `La description ne doit pas dépasser ${limit} caractères.`,
    logoutUriInvalid:
      'Saisissez une adresse qui commence par https:// et comporte un nom de domaine complet, sans nom d’utilisateur, ni port, ni #. Ou laissez ce champ vide.',
    websiteInvalid: 'Saisissez une adresse qui commence par https:// ou laissez ce champ vide.',
    redirectUriTooLong: (limit: number) => `L’adresse dépasse ${limit} caractères.`,
    redirectUriFragment: 'L’adresse ne doit pas contenir de # ni ce qui le suit.',
    redirectUriResponseParameter:
      'L’adresse ne doit pas contenir de paramètre que notre réponse ajoute, comme code ou state.',
    redirectUriCharacter: 'L’adresse contient un caractère qui n’y est pas admis.',
    redirectUriPrivateUse:
      'Une adresse avec un schéma qui vous est propre est réservée aux applications publiques, et seulement si ce serveur le permet.',
    redirectUriInvalid: 'Ce n’est pas une adresse complète.',
    redirectUriNotHttps:
      'L’adresse doit commencer par https://. Sur votre propre ordinateur seulement, elle peut commencer par http://localhost, http://127.0.0.1 ou http://[::1].',
    tooManyClients: (limit: number) =>
      `Vous pouvez enregistrer ${limit} applications au plus. Supprimez-en une dont vous n’avez plus besoin.`,
    tooManyPersonalTokens: (limit: number) =>
      `Vous pouvez avoir ${limit} jetons personnels au plus. Supprimez-en un dont vous n’avez plus besoin.`,
    applicationTooLong:
      'Les champs de cette application sont trop longs ensemble. Raccourcissez la description ou retirez des URI de redirection.',
    tooManyRedirectUris: (limit: number) => `Pas plus de ${limit} URI de redirection.`,
    scopeUnknown: (scope: string) =>
      `L’autorisation ${scope} n’existe pas ou ne peut pas être choisie.`,
    undoTooLate:
      'Il n’est plus possible d’annuler, ou l’annulation a déjà eu lieu dans une autre fenêtre.',
    draftLost:
      'Le texte du formulaire précédent n’est pas disponible\u00a0: il est conservé 20 minutes pour la personne qui l’a saisi, et affiché une fois.',
    expiredForGood:
      'Le jeton a expiré : son expiration ne peut plus être modifiée. Créez une nouvelle valeur.',
    expiresInvalid: 'Saisissez une date, par exemple 2030-01-31.',
    expiresInPast: 'Choisissez une date dans le futur.',
    expiresTooLate: (day: string) => `Choisissez une date qui ne dépasse pas le ${day}.`,
    expiresMissing: (day: string) => `Choisissez une date, le ${day} au plus tard.`,
    confirmName: 'Ce n’est pas le bon nom. Rien n’a été supprimé.',
    passwordWrong: 'Le mot de passe actuel est incorrect.',
    passwordTooShort: (limit: number) =>
      `Le mot de passe doit comporter au moins ${limit} caractères.`,
    passwordTooLong: 'Le mot de passe est trop long.',
    overlapInvalid: 'Choisissez l’une des durées proposées.',
    other: 'L’enregistrement est impossible. Veuillez vérifier votre saisie.',
    stale:
      'Cette page n’est plus à jour, par exemple parce que vous vous êtes reconnecté dans une autre fenêtre. Rien n’a été modifié. Vérifiez votre saisie et envoyez-la à nouveau.',
    loggedOut:
      'Vous étiez déconnecté\u00a0: rien n’est encore enregistré. Vérifiez votre saisie, puis enregistrez-la.',
    redirectUrisMissing: 'Ce genre d’application a besoin d’au moins un URI de redirection.',
    redirectUrisUnused:
      'Un programme autonome n’a pas d’URI de redirection. Laissez le champ vide, ou choisissez un autre genre.',
  },
  done: {
    userDeactivated: (name: string) => `${name} a été désactivé.`,
    userActivated: (name: string) => `${name} a été activé.`,
    credentialEnded: 'Le secret ne fonctionne plus.',
    applicationTokensEnded: (name: string) => `Tous les jetons de « ${name} » ont été révoqués.`,
    ownTokensEnded: 'Tous vos jetons ont été révoqués.',
    userTokensEnded: (name: string) => `Tous les jetons de ${name} ont été révoqués.`,
    loggedOut: (name: string) => `${name} a été déconnecté partout.`,
    deviceRevoked: (name) => `${name} a été déconnecté de cet appareil.`,
    clientCreated: 'L’application est enregistrée.',
    clientSaved: 'Les modifications ont été enregistrées.',
    clientDeleted: (name: string) => `L’application «\u202f${name}\u202f» a été supprimée.`,
    secretReset: 'L’application a un nouveau secret.',
    tokenCreated: 'Le jeton a été créé.',
    tokenSaved: 'Les modifications ont été enregistrées.',
    tokenRotated: 'Le jeton a une nouvelle valeur.',
    tokenDeleted: (name: string) => `Le jeton «\u202f${name}\u202f» a été supprimé.`,
    tokensDeleted: count({ one: '# jeton a été supprimé.', other: '# jetons ont été supprimés.' }),
    tokensRestored: count({
      one: '# jeton est de nouveau valide.',
      other: '# jetons sont de nouveau valides.',
    }),
    formerEnded: 'L’ancienne valeur n’est plus valide.',
    tokenReduced: 'Le jeton n’a plus que les autorisations qu’il a utilisées.',
    revokedSome: count({
      one: '# application ne peut plus agir en votre nom.',
      other: '# applications ne peuvent plus agir en votre nom.',
    }),
    revoked: (name: string) => `«\u202f${name}\u202f» ne peut plus agir en votre nom.`,
    revokedAll: 'Plus aucune application ne peut agir en votre nom.',
    sessionEnded: 'Le navigateur choisi a été déconnecté.',
    linkSent: (email) => `Un lien a été envoyé à ${email}. Il est valable pendant une heure.`,
    passwordChanged:
      'Votre mot de passe a été modifié. Tous les autres navigateurs ont été déconnectés.',
    otherSessionsEnded: 'Tous les autres navigateurs ont été déconnectés.',
    logoRequested: (name: string) =>
      `Le logo de «\u00a0${name}\u00a0» est en cours de téléchargement.`,
    clientVerified: (name: string) =>
      `L’application «\u202f${name}\u202f» est affichée comme vérifiée.`,
    clientUnverified: (name: string) =>
      `L’application «\u202f${name}\u202f» n’est plus affichée comme vérifiée.`,
    clientDisabled: (name: string) =>
      `L’application «\u202f${name}\u202f» a été désactivée\u00a0: elle et ses jetons sont refusés.`,
    clientEnabled: (name: string) => `L’application «\u202f${name}\u202f» est à nouveau activée.`,
    clientPinned: (name: string) =>
      `L’application «\u202f${name}\u202f» est figée\u00a0: son document n’est plus récupéré.`,
    clientUnpinned: (name: string) =>
      `L’application «\u202f${name}\u202f» n’est plus figée\u00a0: son document est de nouveau récupéré.`,
    defaultResourceChanged: (name: string) =>
      `La ressource par défaut de «\u202f${name}\u202f» a été modifiée.`,
  },
}
