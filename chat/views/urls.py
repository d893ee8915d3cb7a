"""Pages. Each area lists its own addresses here."""

from django.conf import settings as django_settings
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, path
from django.views.generic import RedirectView
from django.views.i18n import set_language

from chat.forms import LoginForm
from chat.views import chat, consents, knowledge, knowledge_files, memory, memory_files, runs, search, settings, tenants, threads

urlpatterns: list[URLPattern] = [
    path("", chat.home, name="home"),
    path("chat/t/<slug:thread_id>/", chat.thread_page, name="thread"),
    path("chat/t/<slug:thread_id>/rename/", threads.rename, name="thread-rename"),
    path("chat/t/<slug:thread_id>/archive/", threads.archive, name="thread-archive"),
    path("chat/t/<slug:thread_id>/unarchive/", threads.unarchive, name="thread-unarchive"),
    path("chat/t/<slug:thread_id>/delete/", threads.delete, name="thread-delete"),
    path("chat/t/<slug:thread_id>/summary/", threads.summary, name="thread-summary"),
    path("chat/t/<slug:thread_id>/export.md", threads.export, name="thread-export"),
    path("chat/<slug:agent_id>/", chat.agent_page, name="agent"),
    path("chat/<slug:agent_id>/send", chat.send, name="chat-send"),
    path("chat/<slug:agent_id>/threads/", threads.thread_list_page, name="threads"),
    path("chat/<slug:agent_id>/archived/", threads.archived_list, name="threads-archived"),
    path("search/", search.search, name="search"),
    path("memory/", memory.panel, name="memory"),
    path("memory/drawer/", memory.drawer, name="memory-drawer"),
    path("memory/add/", memory.add, name="memory-add"),
    path("memory/bulk/", memory.bulk, name="memory-bulk"),
    path("memory/undo/", memory.undo, name="memory-undo"),
    path("memory/export.json", memory_files.export_memory, name="memory-export"),
    path("memory/import/", memory_files.import_memory, name="memory-import"),
    path("memory/candidates/<slug:candidate_id>/", memory.candidate, name="memory-candidate"),
    path("memory/facts/<slug:fact_id>/", memory.fact, name="memory-fact"),
    path("knowledge/", knowledge.documents, name="knowledge"),
    path("knowledge/news/", knowledge.news, name="knowledge-news"),
    path("knowledge/upload/", knowledge_files.upload, name="knowledge-upload"),
    path("knowledge/p/<slug:passage_id>/", knowledge.passage, name="passage"),
    path("knowledge/<slug:document_id>/", knowledge.document, name="document"),
    path("knowledge/<slug:document_id>/file/", knowledge.document_file, name="document-file"),
    path("knowledge/<slug:document_id>/agents/", knowledge.choose_agents, name="document-agents"),
    path("knowledge/<slug:document_id>/replace/", knowledge_files.replace, name="document-replace"),
    path("knowledge/<slug:document_id>/retry/", knowledge.retry, name="document-retry"),
    path("knowledge/<slug:document_id>/delete/", knowledge.delete, name="document-delete"),
    path("runs/<slug:run_id>/memories/", memory.used, name="run-memories"),
    path("runs/<slug:run_id>/sources/", runs.sources, name="run-sources"),
    path("runs/<slug:run_id>/ledger/", runs.ledger, name="run-ledger"),
    path("runs/<slug:run_id>/tries/", runs.tries, name="run-tries"),
    path("runs/<slug:run_id>/answer.md", runs.answer, name="run-answer"),
    path("runs/<slug:run_id>/stop/", runs.stop_run, name="run-stop"),
    path("runs/<slug:run_id>/retry/", runs.retry, name="run-retry"),
    path("favicon.ico", RedirectView.as_view(url=f"{django_settings.STATIC_URL}img/favicon.svg")),  # for pages of others: the admin site
    path("accounts/login/", LoginView.as_view(authentication_form=LoginForm, redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("language/", set_language, name="set-language"),
    path("tenants/switch/", tenants.switch_tenant, name="tenant-switch"),
    path("consent/", consents.answer_consent, name="consent-answer"),
    path("settings/", settings.settings_page, name="settings"),
    path("settings/preferences/", settings.save_preferences, name="settings-preferences"),
    path("settings/memory/", settings.save_memory_switch, name="settings-memory"),
    path("settings/password/", settings.change_password, name="settings-password"),
    path("settings/tokens/", settings.create_token, name="settings-tokens"),
    path("settings/tokens/<slug:token_id>/revoke/", settings.revoke_token, name="settings-token-revoke"),
]
