import { counted } from './counted.ts'
import type { Messages } from './en.ts'

const count = counted('it')

export const it: Messages = {
  frame: {
    skip: 'Vai al contenuto',
    navigation: 'Account',
    applications: 'Applicazioni',
    sessions: 'Sessioni',
    activity: 'Attività',
    admin: 'Amministrazione',
    logout: 'Esci',
    copy: 'Copia',
    copied: 'Copiato',
    next: 'Pagina successiva',
    first: 'Prima pagina',
    pages: 'Pagine',
    save: 'Salva le modifiche',
    cancel: 'Annulla',
    error: (title: string) => `Errore: ${title}`,
    saveAnyway: 'Salva comunque',
    confirmLosses: 'Non è stato ancora salvato nulla. Se salvi queste modifiche:',
    conflict:
      'Durante la modifica, i dati sono stati cambiati in un’altra finestra, quindi non è stato salvato nulla. La tua versione è ancora nel modulo. Se la salvi, sostituisce l’altra versione:',
    savedVersion: 'Salvato nel frattempo',
    yourVersion: 'La tua versione',
    correct: 'Correggi quanto segue:',
    line: (line: number, sentence: string) => `Riga ${line}: ${sentence}`,
  },
  facts: {
    clientId: 'ID client',
    clientSecret: 'Client secret',
    type: 'Tipo',
    confidential: 'Confidenziale',
    public: 'Pubblica',
    verified: 'Verificata',
    disabled: 'Disattivata',
    selfRegistered: 'Registrata da sé',
    selfDescribed: 'Descritta da sé',
    expired: 'Scaduto',
    created: 'Creazione',
    users: 'Utenti',
    moreThan: (count) => `più di ${count}`,
    expires: 'Scadenza',
    never: 'Mai',
    lastUsed: 'Ultimo utilizzo',
    neverUsed: 'Nessuno finora',
    from: (address: string) => `da ${address}`,
    owner: 'Registrata da',
    nobody: 'Nessuno',
    website: 'Sito web',
    since: 'Data di autorizzazione',
    permissions: 'Autorizzazioni',
    noPermissions: 'Nessuna, tranne sapere chi sei',
    read: 'Sola lettura',
    write: 'Può modificare',
    highRisk: 'Rischio elevato',
    otherGroup: 'Altro',
    unknownBrowser: 'Browser o programma sconosciuto',
    words: (name: string) => `Come si presenta ${name}:`,
  },
  login: {
    title: 'Accedi',
    continueTo: (client: string) =>
      `${client} chiede l’accesso al tuo account. Decidi dopo aver effettuato l’accesso.`,
    email: 'Indirizzo email',
    password: 'Password',
    submit: 'Accedi',
    wrong: 'L’indirizzo email o la password non sono corretti.',
    tooMany: 'Sono state inserite troppe password errate. Aspetta dieci minuti, poi riprova.',
    stale: 'Questa pagina è rimasta aperta troppo a lungo o i cookie sono bloccati. Riprova.',
    foreign: 'Questo modulo è stato inviato da un altro sito. Accedi da qui.',
  },
  home: {
    title: 'Pagina iniziale',
    nobody: 'Nessuno ha effettuato l’accesso.',
    user: 'Hai effettuato l’accesso come',
    login: 'Accedi',
    applications: 'Applicazioni e token personali',
    aboutApplications:
      'Registra applicazioni, crea token per i tuoi programmi e controlla a chi hai permesso di agire per tuo conto.',
    sessions: 'Sessioni',
    aboutSessions: 'Controlla dove hai effettuato l’accesso ed esci dagli altri dispositivi.',
    admin: 'Amministrazione',
    aboutAdmin: 'Gestisci tutte le applicazioni e tutti i token.',
  },
  consent: {
    title: (client: string) => `Vuoi autorizzare ${client}?`,
    asks: (client: string) => `${client} vuole agire per tuo conto e chiede queste autorizzazioni:`,
    nothing: (client: string) =>
      `${client} vuole sapere che sei proprio tu. Non ottiene altre autorizzazioni.`,
    asksMore: (client: string) =>
      `${client} ha già accesso al tuo account e ora chiede anche queste autorizzazioni:`,
    asksAgain: (client: string) => `${client} chiede di nuovo ciò che hai già autorizzato:`,
    allowedBefore: 'Hai già autorizzato:',
    optional: 'Puoi deselezionare ciò che non vuoi autorizzare.',
    user: 'Hai effettuato l’accesso come',
    otherAccount: 'Non sei tu? Usa un altro account',
    owner: 'Registrata da',
    website: 'Sito web',
    destination: 'Reindirizzamento a',
    local: 'un programma su questo stesso computer',
    unverified: (brand: string) =>
      `Questa applicazione non è stata verificata da ${brand}. Autorizzala solo se sai chi la offre.`,
    selfRegistered: (brand: string) =>
      `Questa applicazione si è registrata da sola. Nessuno di ${brand} l’ha verificata: il suo nome e tutto ciò che dice di sé possono essere falsi. Autorizzala solo se sai chi la offre.`,
    selfDescribed: (host: string) =>
      `Questa applicazione si descrive da sola all’indirizzo ${host}. Qui nessuno l’ha verificata: il suo nome e tutto ciò che dice di sé possono essere falsi. Autorizzala solo se sai chi c’è dietro quell’indirizzo.`,
    localCaution:
      'Se la autorizzi, l’autorizzazione andrà a un programma su questo computer. Qualsiasi programma può spacciarsi per questa applicazione: autorizzala solo se l’hai appena avviata tu.',
    terms: 'Condizioni d’uso',
    privacy: 'Informativa sulla privacy',
    mixesAlphabets:
      'Il nome mescola lettere di più alfabeti, alcune delle quali si somigliano. Assicurati che sia davvero chi pensi.',
    lasting:
      'Se la autorizzi, potrà agire finché non revocherai l’autorizzazione nelle tue impostazioni, in «Applicazioni».',
    accept: 'Autorizza',
    undecided: 'Non è stato scelto né «Autorizza» né «Rifiuta». Scegline uno.',
    refuse: 'Rifiuta',
  },
  device: {
    title: 'Collega un dispositivo',
    about: 'Il tuo dispositivo o programma mostra un codice. Inseriscilo qui.',
    code: 'Codice',
    codeHint: 'Otto lettere, ad esempio WDJB-MJHT, maiuscole o minuscole.',
    submit: 'Continua',
    wrong: 'Questo codice non è valido. Forse è stato scritto male, è scaduto o è già stato usato.',
    tooMany:
      'Sono stati inseriti troppi codici errati. Aspetta dieci minuti, poi richiedi un nuovo codice sul tuo dispositivo.',
    warning:
      'Autorizza solo se hai appena avviato tu l’operazione, su un tuo dispositivo. Se qualcuno ti ha inviato questo codice o un link, rifiuta: quella persona agirebbe per tuo conto.',
    shows: 'Il tuo dispositivo deve mostrare esattamente questo codice:',
    allowedTitle: 'Accesso autorizzato',
    allowed: (client: string) => `${client} ora può agire per tuo conto.`,
    goBack: 'Torna al tuo dispositivo: proseguirà da solo tra pochi secondi.',
    refusedTitle: 'Accesso rifiutato',
    refused: (client: string) => `${client} non può fare nulla per tuo conto.`,
    close: 'Puoi chiudere questa pagina.',
  },
  applications: {
    title: 'Applicazioni',
    clients: {
      title: 'Le mie applicazioni',
      about:
        'Le applicazioni che hai registrato. Possono chiedere ad altre persone, e a te, l’autorizzazione ad agire qui per loro conto.',
      none: 'Non hai ancora registrato nessuna applicazione.',
      invite:
        'Registrane una e chiunque potrà accedere al tuo sito o programma con il proprio account su questo servizio.',
      create: 'Registra un’applicazione',
    },
    tokens: {
      title: 'I miei token personali',
      about:
        'Chiavi per i tuoi script e programmi. Ogni token agisce per tuo conto, entro le autorizzazioni che hai scelto.',
      none: 'Non hai ancora token personali.',
      invite:
        'Creane uno per usare l’API da uno script, dalla riga di comando o da un altro programma.',
      create: 'Crea un token',
    },
    authorized: {
      title: 'Applicazioni che ho autorizzato',
      about:
        'Applicazioni che possono agire per tuo conto perché lo hai autorizzato. Puoi revocare l’autorizzazione in qualsiasi momento.',
      none: 'Non hai autorizzato nessuna applicazione ad agire per tuo conto.',
      invite:
        'Quando accederai a un altro sito o programma con il tuo account su questo servizio, lo troverai in questo elenco.',
      devices: count({ one: '# dispositivo', other: '# dispositivi' }),
      moreDevices: count({ one: 'e # altro dispositivo', other: 'e # altri dispositivi' }),
      revoke: 'Revoca',
      revokeNamed: (name: string) => `Revoca ${name}`,
      revokeAll: 'Revoca tutte le applicazioni',
      revokeAllAbout:
        'Nessuna applicazione potrà più agire per tuo conto, su nessun dispositivo. I tuoi token personali restano.',
    },
  },
  client: {
    newTitle: 'Registra un’applicazione',
    newAbout:
      'Un’applicazione registrata può chiedere alle persone l’autorizzazione ad agire qui per loro conto. Si riconosce dal suo ID client.',
    create: 'Registra l’applicazione',
    name: 'Nome',
    nameHint: 'Ciò che si legge quando la tua applicazione chiede un’autorizzazione.',
    description: 'Descrizione',
    descriptionHint:
      'Facoltativa. Che cosa fa la tua applicazione e perché ha bisogno di autorizzazioni.',
    website: 'Sito web',
    websiteHint: 'Facoltativo. Dove saperne di più; l’indirizzo inizia con https://',
    redirectUris: 'URI di reindirizzamento',
    redirectUrisHint:
      'Uno per riga. Dopo aver deciso, si torna a uno di questi indirizzi. L’indirizzo deve essere esatto e iniziare con https:// (o con http:// sul tuo computer).',
    type: 'Tipo',
    confidentialHint:
      'Viene eseguita su un tuo server e può custodire un segreto, come un’applicazione web.',
    publicHint:
      'Altre persone possono vederne il contenuto, come un’app per telefono o desktop, o una pagina senza server. Non ha un secret.',
    defaultScopes: 'Autorizzazioni predefinite',
    defaultScopesHint:
      'Ciò che la tua applicazione chiede se la sua richiesta non lo specifica. Senza utente, con client_credentials, la tua applicazione può ottenere solo queste.',
    optionalScopes: 'Autorizzazioni facoltative',
    optionalScopesHint: 'Si possono deselezionare, concedendo comunque le altre.',
    losses: {
      verification:
        'La verifica termina. Un amministratore dovrà verificare di nuovo l’applicazione.',
      secret: 'Il client secret non sarà più valido.',
      tokens:
        'Tutti i token dell’applicazione non saranno più validi e occorrerà autorizzarla di nuovo.',
    },
    credentials: 'Credenziali',
    secretKept:
      'Mostrato una sola volta, alla creazione. Se lo hai perso, creane uno nuovo qui sotto.',
    secretOnce:
      'Copia ora il client secret. Viene mostrato solo questa volta e non potremo mostrartelo di nuovo.',
    previousSecret: (time: string) => `Il secret precedente è ancora valido. Scadenza: ${time}.`,
    secretLeaked: (time: string) =>
      `Il secret è stato trovato in un luogo dove altri possono leggerlo e non funziona più. Momento: ${time}. Creane uno nuovo qui sotto.`,
    disabledAbout:
      'Un amministratore ha disattivato questa applicazione. Finché non viene riattivata, l’applicazione e i suoi token vengono rifiutati.',
    tryIt: 'Prova',
    tryItStart: 'Avvia il flusso come farebbe la tua applicazione',
    tryItAbout:
      'Si apre la pagina in cui le persone decidono. Poi arrivi al tuo URI di reindirizzamento, con un codice nell’indirizzo.',
    tryItCurl:
      'Entro un minuto, scambia il codice con un token di accesso. Metti il codice al posto di CODE:',
    tryItCurlSecret:
      'Entro un minuto, scambia il codice con un token di accesso. Metti il codice al posto di CODE e il client secret al posto di SECRET:',
    settings: 'Impostazioni',
    reset: 'Nuovo client secret',
    resetAbout: 'Fallo se altri potrebbero conoscere il secret o se è andato perso.',
    overlap: 'Mantieni valido il vecchio secret per',
    overlapHint: 'Il tempo di mettere quello nuovo al posto di quello vecchio.',
    resetSubmit: 'Crea un nuovo secret',
    delete: 'Elimina questa applicazione',
    deleteAbout:
      'Tutti i suoi token smettono subito di funzionare e, se la registri di nuovo, tutti dovranno autorizzarla un’altra volta. L’operazione non può essere annullata.',
    confirmName: (name: string) => `Per confermare, digita il nome dell’applicazione: ${name}`,
    deleteSubmit: 'Elimina l’applicazione',
  },
  token: {
    newTitle: 'Crea un token personale',
    newAbout:
      'Un token è come una password per un programma: chi lo possiede può fare ciò che autorizzi qui. Autorizza solo ciò che serve al programma.',
    create: 'Crea il token',
    name: 'Nome',
    nameHint: 'A che cosa serve, per riconoscerlo in seguito.',
    expires: 'Scadenza',
    expiresHint: 'Facoltativa. Senza una data, il token è valido finché non lo elimini.',
    expiresLast: (day: string) => `Scegli una data. Ultimo giorno possibile: ${day}.`,
    scopes: 'Autorizzazioni',
    scopesHint:
      'Ciò che un programma con questo token può fare per tuo conto. Puoi cambiarlo in seguito.',
    noScopes: 'Non c’è nulla da scegliere: il token dice chi sei.',
    once: 'Copia ora il token. Viene mostrato solo questa volta e non potremo mostrartelo di nuovo.',
    value: 'Token personale',
    curl: 'Per provarlo, esegui questo nella riga di comando:',
    expiredAbout: 'Questo token è scaduto e viene rifiutato. Eliminalo o creane uno nuovo.',
    previous: (time: string) => `Il valore precedente è ancora valido. Scadenza: ${time}.`,
    settings: 'Impostazioni',
    rotate: 'Nuovo valore',
    rotateAbout:
      'Il token mantiene il nome e le autorizzazioni e riceve un nuovo valore. Fallo se altri potrebbero conoscere il valore o se è andato perso.',
    overlap: 'Mantieni valido il vecchio valore per',
    overlapHint: 'Il tempo di mettere quello nuovo al posto di quello vecchio.',
    rotateSubmit: 'Crea un nuovo valore',
    delete: 'Elimina questo token',
    deleteAbout:
      'Da quel momento i programmi che lo usano vengono rifiutati. L’operazione non può essere annullata.',
    deleteSubmit: 'Elimina il token',
  },
  overlap: { none: 'Nessun periodo: scade subito' },
  authorization: {
    title: (client: string) => `Che cosa può fare ${client}`,
    device: 'Dispositivo',
    ends: 'Termine in caso di inutilizzo',
    permissions: 'L’applicazione può:',
    revoke: 'Revoca su questo dispositivo',
    revokeAbout:
      'L’applicazione viene disconnessa su questo dispositivo e può chiederti di nuovo l’autorizzazione.',
    revokeAll: 'Revoca su tutti i dispositivi',
    revokeAllAbout:
      'L’applicazione viene disconnessa ovunque e deve chiederti di nuovo l’autorizzazione.',
  },
  sessions: {
    title: 'Sessioni',
    about:
      'I browser in cui hai effettuato l’accesso. Se non ne riconosci uno, disconnettilo e cambia la password.',
    current: 'Questo browser',
    address: 'Indirizzo IP',
    since: 'Accesso',
    lastSeen: 'Ultima attività',
    end: 'Disconnetti',
    endNamed: (browser: string) => `Disconnetti ${browser}`,
    others: 'Disconnetti tutti gli altri',
    othersAbout: 'Tutti i browser tranne questo vengono disconnessi.',
    alone: 'Non hai effettuato l’accesso da nessun’altra parte.',
  },
  userLinks: {
    reset_password: {
      title: 'Password dimenticata?',
      about:
        'Inserisci il tuo indirizzo email. Riceverai un link con cui potrai impostare una nuova password.',
      openTitle: 'Imposta una nuova password',
      submit: 'Imposta password',
      done: 'La tua password è stata cambiata. Accedi con la nuova password.',
    },
    sign_up: {
      title: 'Crea un account',
      about:
        'Inserisci il tuo indirizzo email. Riceverai un link con cui potrai creare il tuo account.',
      openTitle: 'Crea un account',
      submit: 'Crea account',
      done: 'Il tuo account è stato creato. Ora puoi accedere.',
    },
    verify_email: {
      openTitle: 'Conferma l’indirizzo email',
      submit: 'Conferma',
      done: 'Il tuo indirizzo email è confermato.',
      about: 'Non hai ancora confermato il tuo indirizzo email:',
    },
    request: 'Invia link',
    sent: (email) =>
      `Controlla la tua posta. Se l’indirizzo ${email} è corretto, riceverai un link valido per un’ora.`,
    toLogin: 'Torna all’accesso',
    notAnAddress: 'Questo non è un indirizzo email.',
    tooMany: 'Sono stati richiesti troppi link. Riprova tra dieci minuti.',
  },
  password: {
    title: 'Cambia password',
    about:
      'Dopo la modifica resterai connesso solo in questo browser. Le applicazioni e i token personali mantengono il loro accesso.',
    current: 'Password attuale',
    next: 'Nuova password',
    hint: (min: number) => `Almeno ${min} caratteri.`,
    submit: 'Cambia password',
  },
  activity: {
    title: 'Attività recente',
    about:
      'Che cosa è successo con il tuo account. Se non riconosci qualcosa, cambia la password e revoca ciò che non conosci.',
    none: 'Ancora niente.',
    from: 'Da',
    browser: 'Browser o programma',
    somebodyElse: 'Un’altra persona, per esempio un amministratore',
  },
  events: {
    'login.succeeded': 'Accesso',
    'login.failed': 'Un accesso è stato rifiutato',
    'session.ended': 'Disconnessione',
    'consent.given': 'Applicazione autorizzata ad agire',
    'consent.withdrawn': 'Tutti i permessi di un’applicazione ritirati',
    'token.issued': 'Un’applicazione ha ottenuto un token',
    'token.refreshed': 'Un’applicazione ha rinnovato il suo token',
    'token.revoked': 'Un token è stato revocato',
    'token.deleted': 'Token eliminato',
    'refresh_token.reused': 'Un vecchio token di aggiornamento è stato riutilizzato',
    'authorization_code.reused': 'Un codice è stato usato due volte',
    'device_code.reused': 'Un codice dispositivo è stato usato due volte',
    'personal_token.created': 'Token personale creato',
    'personal_token.edited': 'Token personale modificato',
    'personal_token.rotated': 'Nuovo valore per un token personale',
    'personal_token.deleted': 'Token personale eliminato',
    'client.created': 'Applicazione registrata',
    'client.edited': 'Applicazione modificata',
    'client.deleted': 'Applicazione eliminata',
    'client.secret_reset': 'Nuovo client secret',
    'client.secret_leaked': 'Client secret trapelato e reso non valido',
    'client.id_reset': 'Nuovo ID client',
    'client.verified': 'Applicazione verificata',
    'client.unverified': 'Verifica ritirata',
    'client.disabled': 'Applicazione disattivata',
    'client.enabled': 'Applicazione attivata',
    'user.created': 'Utente creato',
    'user.activated': 'Utente attivato',
    'user.deactivated': 'Utente disattivato',
    'user.admin_granted': 'Utente nominato amministratore',
    'user.admin_withdrawn': 'Un utente non è più amministratore',
    'user.password_changed': 'Password cambiata',
    'user.email_verified': 'Indirizzo email confermato',
    'user.deleted': 'Utente eliminato',
    'user.vanished': 'Dati di un utente non più esistente eliminati',
    'users.missing': 'Molti utenti non trovati; nulla è stato eliminato',
    'secret_key.rotated': 'Chiave segreta del server cambiata',
    'signing_key.created': 'Nuova chiave di firma',
  },
  admin: {
    title: 'Amministrazione',
    clients: 'Applicazioni',
    clientsAbout: 'Tutte le applicazioni registrate, da chiunque.',
    searchClients: 'Cerca applicazioni',
    searchClientsHint: 'Nome, ID client o proprietario',
    noClients: 'Nessuna applicazione trovata.',
    tokens: 'Token',
    tokensAbout: 'Tutti i token emessi, senza alcun modo di vederne il valore.',
    searchTokens: 'Cerca token',
    searchTokensHint: 'Indirizzo e-mail, ID client o numero del token',
    noTokens: 'Nessun token trovato.',
    search: 'Cerca',
    all: 'Mostra tutto',
    activityAbout: 'Tutto ciò che ha cambiato chi può fare che cosa, dal più recente.',
    event: 'Evento',
    allEvents: 'Tutti gli eventi',
    userHint: 'Indirizzo e-mail o ID',
    noEvents: 'Nessun evento trovato.',
    token: 'Numero del token',
    request: 'ID della richiesta',
    actors: {
      client: 'Un’applicazione',
      command_line: 'La riga di comando',
      system: 'Il server',
      unknown: 'Sconosciuto',
    },
    at: 'Quando',
    actor: 'Da',
    owner: 'Proprietario',
    user: 'Utente',
    redirectUris: 'URI di reindirizzamento',
    personal: 'Token personale',
    issued: 'Emesso per un’applicazione',
    verify: 'Verifica',
    unverify: 'Ritira la verifica',
    disable: 'Disattiva',
    enable: 'Attiva',
    delete: 'Elimina',
    deleteNamed: (name: string) => `Elimina ${name}`,
    deleteAbout:
      'L’applicazione e tutti i suoi token spariscono subito. L’operazione non può essere annullata.',
    confirmName: (name: string) => `Per confermare, digita il suo nome: ${name}`,
  },
  error: {
    title: 'Operazione non riuscita',
    known: {
      invalid_request: {
        what: 'L’applicazione ha inviato una richiesta inutilizzabile. Molto probabilmente è un errore dell’applicazione, non tuo.',
        advice:
          'Torna all’applicazione e riprova. Se succede di nuovo, comunica a chi la sviluppa quanto riportato qui sotto.',
      },
      unauthorized_client: {
        what: 'L’applicazione non è configurata per ciò che ha tentato di fare. È un errore dell’applicazione, non tuo.',
        advice: 'Comunica a chi la sviluppa quanto riportato qui sotto.',
      },
      unsupported_response_type: {
        what: 'L’applicazione ha chiesto qualcosa che questo server non offre. È un errore dell’applicazione, non tuo.',
        advice: 'Comunica a chi la sviluppa quanto riportato qui sotto.',
      },
      invalid_scope: {
        what: 'L’applicazione ha chiesto un’autorizzazione che non può ottenere. È un errore dell’applicazione, non tuo.',
        advice: 'Comunica a chi la sviluppa quanto riportato qui sotto.',
      },
      access_denied: {
        what: 'L’autorizzazione è stata rifiutata. Nessuno ha commesso un errore: l’applicazione non può fare nulla per tuo conto.',
        advice: 'Puoi chiudere questa pagina. Se cambi idea, ricomincia dall’applicazione.',
      },
      login_required: {
        what: 'L’applicazione voleva proseguire senza chiederti di accedere, e qui non hai effettuato l’accesso. Non è stato fatto nulla.',
        advice: 'Torna all’applicazione e ricomincia.',
      },
      server_error: {
        what: 'Qualcosa è andato storto da parte nostra. Non è un errore tuo né dell’applicazione.',
        advice: 'Torna all’applicazione e riprova tra qualche minuto.',
      },
      temporarily_unavailable: {
        what: 'Il servizio non è disponibile in questo momento. Non è un errore tuo né dell’applicazione.',
        advice: 'Torna all’applicazione e riprova tra qualche minuto.',
      },
    },
    unknown: {
      what: 'L’applicazione e questo server non sono riusciti a intendersi. Molto probabilmente è un errore dell’applicazione, non tuo.',
      advice:
        'Torna all’applicazione e riprova. Se succede di nuovo, comunica a chi la sviluppa quanto riportato qui sotto.',
    },
    again: 'Torna all’applicazione e riprova.',
    code: 'Codice di errore',
    details: 'Dettagli',
    home: 'Vai alla pagina iniziale',
  },
  problem: {
    staleLogout: 'Questa pagina è rimasta aperta troppo a lungo. Esci di nuovo.',
    title: 'Operazione non riuscita',
    stale: 'Questa pagina è rimasta aperta troppo a lungo. Decidi di nuovo.',
    foreign: 'Questo modulo non appartiene alla tua sessione. Non è stato fatto nulla.',
    loggedOut: 'La tua sessione è terminata. Torna all’applicazione e ricomincia.',
    decided:
      'Questa richiesta ha già ricevuto risposta o è scaduta. Torna all’applicazione e ricomincia.',
    clientChanged: 'L’applicazione è cambiata o non esiste più. Non è stato fatto nulla.',
    notFound: 'A questo indirizzo non c’è nulla.',
    notFoundTitle: 'Pagina non trovata',
    failed: 'Qualcosa è andato storto da parte nostra. Riprova più tardi.',
    unavailable: 'Il servizio non è disponibile in questo momento. Riprova tra poco.',
    wrongMethod: 'Questo indirizzo non può essere usato in questo modo. Torna indietro e riprova.',
    tooLarge: 'I dati inviati sono troppo grandi. Non è stato fatto nulla.',
    badRequest: 'I dati inviati sono illeggibili. Non è stato fatto nulla.',
    linkInvalid: 'Questo link non è più valido o è già stato usato. Richiedi un nuovo link.',
  },
  problems: {
    notRotatable:
      'Questo token ha un’autorizzazione che solo il servizio stesso concede, perciò qui non può ricevere un nuovo valore.',
    changedMeanwhile:
      'L’applicazione è cambiata da quando questa pagina è stata aperta. Controllala di nuovo.',
    atWork:
      'Questo modulo è stato inviato due volte e lo stiamo ancora elaborando. Ricontrolla la pagina tra un momento.',
    nameMissing: 'Inserisci un nome.',
    nameTooLong: (limit: number) => `Il nome può avere al massimo ${limit} caratteri.`,
    unseenCharacter: 'Il testo contiene un carattere invisibile. Digitalo invece di incollarlo.',
    tooManyMarks: 'Su una lettera ci sono troppi segni diacritici.',
    descriptionTooLong: (limit: number) =>
      `La descrizione può avere al massimo ${limit} caratteri.`,
    websiteInvalid: 'Inserisci un indirizzo che inizi con https:// o lascia il campo vuoto.',
    redirectUriTooLong: (limit: number) => `L’indirizzo ha più di ${limit} caratteri.`,
    redirectUriFragment: 'L’indirizzo non deve contenere un # né ciò che lo segue.',
    redirectUriResponseParameter:
      'L’indirizzo non deve contenere un parametro che la nostra risposta aggiunge, come code o state.',
    redirectUriCharacter: 'L’indirizzo contiene un carattere non ammesso.',
    redirectUriPrivateUse:
      'Un indirizzo con uno schema tuo può essere usato solo da applicazioni pubbliche, e solo se questo server lo permette.',
    redirectUriInvalid: 'Non è un indirizzo completo.',
    redirectUriNotHttps:
      'L’indirizzo deve iniziare con https://. Solo sul tuo computer può iniziare con http://localhost, http://127.0.0.1 o http://[::1].',
    tooManyClients: (limit: number) =>
      `Puoi registrare al massimo ${limit} applicazioni. Eliminane una che non ti serve più.`,
    tooManyPersonalTokens: (limit: number) =>
      `Puoi avere al massimo ${limit} token personali. Eliminane uno che non ti serve più.`,
    tooManyRedirectUris: (limit: number) =>
      `Puoi indicare al massimo ${limit} URI di reindirizzamento.`,
    scopeUnknown: (scope: string) =>
      `L’autorizzazione ${scope} non esiste o non può essere scelta.`,
    expiresInvalid: 'Inserisci una data, per esempio 2030-01-31.',
    expiresInPast: 'Scegli una data futura.',
    expiresTooLate: (day: string) => `La data è troppo lontana. Ultimo giorno possibile: ${day}.`,
    expiresMissing: (day: string) => `Scegli una data. Ultimo giorno possibile: ${day}.`,
    confirmName: 'Il nome non corrisponde. Non è stato eliminato nulla.',
    passwordWrong: 'La password attuale non è corretta.',
    passwordTooShort: (limit: number) => `La password deve avere almeno ${limit} caratteri.`,
    passwordTooLong: 'La password è troppo lunga.',
    overlapInvalid: 'Scegli una delle durate proposte.',
    other: 'Impossibile salvare. Controlla ciò che hai inserito.',
    stale:
      'Questa pagina è rimasta aperta troppo a lungo. Ciò che hai inserito è ancora qui: invialo di nuovo.',
  },
  done: {
    deviceRevoked: (name) => `${name}: accesso rimosso da quel dispositivo.`,
    clientCreated: 'L’applicazione è registrata.',
    clientSaved: 'Le modifiche sono state salvate.',
    clientDeleted: (name: string) => `L’applicazione «${name}» è stata eliminata.`,
    secretReset: 'L’applicazione ha un nuovo secret.',
    tokenCreated: 'Il token è stato creato.',
    tokenSaved: 'Le modifiche sono state salvate.',
    tokenRotated: 'Il token ha un nuovo valore.',
    tokenDeleted: (name: string) => `Il token «${name}» è stato eliminato.`,
    revoked: (name: string) => `«${name}» non può più agire per tuo conto.`,
    revokedAll: 'Nessuna applicazione può più agire per tuo conto.',
    sessionEnded: 'Il browser scelto è stato disconnesso.',
    linkSent: (email) => `È stato inviato un link a ${email}. È valido per un’ora.`,
    passwordChanged:
      'La tua password è stata cambiata. Tutti gli altri browser sono stati disconnessi.',
    otherSessionsEnded: 'Tutti gli altri browser sono stati disconnessi.',
    clientVerified: (name: string) => `L’applicazione «${name}» viene mostrata come verificata.`,
    clientUnverified: (name: string) =>
      `L’applicazione «${name}» non viene più mostrata come verificata.`,
    clientDisabled: (name: string) =>
      `L’applicazione «${name}» è stata disattivata: viene rifiutata insieme ai suoi token.`,
    clientEnabled: (name: string) => `L’applicazione «${name}» è di nuovo attiva.`,
  },
}
